package org.gramian.tensor.library;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The folder that holds the libtorch libraries, and where that choice came from.
 *
 * @param folder the folder with the libraries directly inside
 * @param origin who named it, in words for {@code doctor}: {@code GRAMIAN_LIBTORCH}, {@code --libtorch}, …
 * @param version the version of libtorch as its files state it, or null where they do not
 */
public record LibtorchFolder(
        Path folder, String origin, @Nullable String version) {
    /**
     * The libtorch of this process: a folder given by {@code --libtorch} or {@code GRAMIAN_LIBTORCH}, else the Maven
     * artifact, unpacked if that has not happened yet.
     *
     * @throws LibtorchException if there is none, or it cannot be unpacked
     */
    public static LibtorchFolder locate() {
        return LibtorchLocator.ofProcess().locate();
    }

    /** Whether checksums were stored beside the libraries; so it is for those we unpacked, not for given folders. */
    public boolean hasChecksums() {
        return Files.exists(folder.resolve(LibtorchManifest.FILE_NAME));
    }

    /**
     * Reads every library and compares it with its stored checksum, which takes about a second.
     *
     * @return one sentence per damaged file, none if all are intact or {@linkplain #hasChecksums() none are known}
     */
    public List<String> verifyChecksums() {
        if (!hasChecksums()) {
            return List.of();
        }
        LibtorchManifest manifest = LibtorchManifest.readFrom(folder);
        return manifest == null
                ? List.of(folder.resolve(LibtorchManifest.FILE_NAME) + " is unreadable")
                : manifest.checksumProblems(folder);
    }
}
