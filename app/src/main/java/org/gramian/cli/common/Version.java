package org.gramian.cli.common;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import org.gramian.tensor.library.Libtorch;
import picocli.CommandLine.IVersionProvider;

/** Versions of the program and of its libraries, as the build wrote them into the jar. */
public final class Version implements IVersionProvider {
    private static final String DEVELOPMENT = "development";

    @Override
    public String[] getVersion() {
        Attributes build = build();
        String commit = build.getValue("Gramian-Commit");
        String libtorch = Libtorch.mayUseGpu() ? "set by the user" : build.getValue("Libtorch-Version");
        String onnx = build.getValue("Onnxruntime-Version");
        return new String[] {
            "gramian " + number() + (commit == null ? "" : ", commit " + commit),
            "libtorch " + (libtorch == null ? DEVELOPMENT : libtorch) + ", ONNX Runtime "
                    + (onnx == null ? DEVELOPMENT : onnx) + ", Java " + Runtime.version()
        };
    }

    public static String number() {
        String written = Version.class.getPackage().getImplementationVersion();
        return written == null ? DEVELOPMENT : written;
    }

    /** Returns the main attributes of the program's jar; empty where it runs from classes. */
    private static Attributes build() {
        try {
            Path jar = Path.of(Version.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            try (JarFile file = new JarFile(jar.toFile())) {
                return file.getManifest().getMainAttributes();
            }
        } catch (IOException | URISyntaxException _) {
            return new Attributes();
        }
    }
}
