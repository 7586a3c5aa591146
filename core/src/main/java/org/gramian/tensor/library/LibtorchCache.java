package org.gramian.tensor.library;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.gramian.basis.ProcessLock;
import org.gramian.basis.SharedFolderLock;
import org.jspecify.annotations.Nullable;

/**
 * Folder that libtorch is unpacked to once, shared by all processes of a user.
 *
 * <p>A library folder is filled under a temporary name and then renamed, so it is complete or absent. An intact one is
 * used without the lock, also from a read-only disk.
 *
 * @param root cache folder, created if missing
 * @param disk free space and file creation
 * @param progress receives messages about unpacking, repairing and waiting
 */
record LibtorchCache(Path root, Disk disk, Consumer<String> progress) {
    private static final String LOCK_FILE = "libtorch.lock";

    /** Returns the unpacked libraries of an artifact; unpacks them if they are missing or damaged. */
    LibtorchFolder provide(LibtorchArtifact artifact) {
        Path folder = root.resolve("libtorch-" + artifact.version() + "-" + artifact.classifier());
        markInUse(folder);
        if (damage(folder, artifact) != null) {
            Path realRoot = createRoot();
            Path target = realRoot.resolve(folder.getFileName());
            ProcessLock lock = new ProcessLock(realRoot.resolve(LOCK_FILE), this::tellWaiting);
            try {
                lock.hold(() -> unpackUnlessDone(target, artifact));
            } catch (InterruptedIOException e) {
                throw new LibtorchException(
                        "interrupted while waiting for another process that is unpacking libtorch", e);
            } catch (IOException e) {
                throw UnpackingFailures.notWritable(realRoot, e);
            }
            markInUse(folder);
        }
        String origin = "Maven artifact " + artifact.release() + " unpacked into the cache";
        return new LibtorchFolder(folder, origin, artifact.release());
    }

    /** Marks a folder as used until the process ends, since libraries may be loaded from it at any time. */
    private void markInUse(Path folder) {
        if (Files.isDirectory(root)) {
            try {
                SharedFolderLock.of(folder);
            } catch (IOException _) {
                // a folder that cannot be marked is not pruned either
            }
        }
    }

    private Path unpackUnlessDone(Path target, LibtorchArtifact artifact) {
        // Another process may have unpacked it while this one waited for the lock.
        String damage = damage(target, artifact);
        if (damage == null) {
            return target;
        }
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            progress.accept("the unpacked libtorch is damaged, unpacking again: " + damage);
        }
        return new LibtorchUnpacker(artifact, target, disk, progress).run();
    }

    /** Returns why a folder cannot be used, or null; fast enough for every start. */
    private static @Nullable String damage(Path folder, LibtorchArtifact artifact) {
        LibtorchManifest manifest = LibtorchManifest.readFrom(folder);
        if (manifest == null) {
            return folder.resolve(LibtorchManifest.FILE_NAME) + " is missing or unreadable";
        }
        if (!manifest.names().equals(artifact.names())) {
            return folder + " holds other libraries than the artifact";
        }
        List<String> problems = manifest.sizeProblems(folder);
        return problems.isEmpty() ? null : String.join("; ", problems);
    }

    private Path createRoot() {
        try {
            // Not through createDirectories' own check alone: a link to a folder is a fine cache folder.
            if (!Files.isDirectory(root)) {
                Files.createDirectories(root);
            }
            // Two names of one folder must not be two locks.
            return root.toRealPath();
        } catch (IOException e) {
            throw UnpackingFailures.notWritable(root, e);
        }
    }

    private void tellWaiting() {
        progress.accept("waiting for another process that is unpacking libtorch into " + root);
    }
}
