package org.gramian.cli.common;

import picocli.CommandLine.IVersionProvider;

/** The program's version, as the build wrote it into the jar. */
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {"gramian " + number()};
    }

    public static String number() {
        String written = Version.class.getPackage().getImplementationVersion();
        return written == null ? "development" : written;
    }
}
