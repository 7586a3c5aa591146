package org.gramian.tensor.library;

import java.nio.file.Path;

/** Cache folder for unpacked, downloaded and computed files, with a subfolder for each purpose. */
public final class CacheFolder {
    private CacheFolder() {}

    /**
     * Returns {@code GRAMIAN_CACHE}, else {@code gramian} in the user's cache folder; it need not exist.
     *
     * @throws LibtorchException if there is neither that variable nor a home folder
     */
    public static Path ofProcess() {
        return LibtorchSettings.ofProcess().cacheFolder();
    }
}
