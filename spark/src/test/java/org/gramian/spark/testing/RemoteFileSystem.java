package org.gramian.spark.testing;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** Files of this machine under a scheme of which nothing but a {@link FileSystem} is known, as of many stores. */
public final class RemoteFileSystem extends RawLocalFileSystem {
    /** Its scheme. */
    public static final String SCHEME = "elsewhere";

    /** Makes the scheme known. */
    public static void in(Configuration hadoop) {
        hadoop.setClass("fs." + SCHEME + ".impl", RemoteFileSystem.class, FileSystem.class);
    }

    @Override
    public URI getUri() {
        return URI.create(SCHEME + ":///");
    }

    @Override
    public String getScheme() {
        return SCHEME;
    }
}
