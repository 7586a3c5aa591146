package org.gramian.tensor.library;

import java.nio.file.Path;

/** The folder for what the program unpacks, downloads or computes once: one folder below it for each purpose. */
public final class CacheFolder {
    private CacheFolder() {}

    /**
     * {@code GRAMIAN_CACHE}, else {@code gramian} in the user's cache folder; it need not exist.
     *
     * @throws LibtorchException if there is neither that variable nor a home folder
     */
    public static Path ofProcess() {
        return LibtorchSettings.ofProcess().cacheFolder();
    }
}
