package org.gramian.tensor.library;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLockInterruptionException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.basis.DiskSpace;
import org.gramian.basis.SharedFolderLock;
import org.gramian.tensor.library.LibtorchFolder.Manifest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folder that libtorch is unpacked to once, shared by all processes of a user.
 *
 * <p>A library folder is filled under a temporary name and then renamed, so it is complete or absent. An intact one is
 * used without the lock, also from a read-only disk.
 */
record LibtorchCache(Path root, Consumer<String> progress) {
    /** Part of the names of unfinished folders; only the holder of the lock has one, so all others are leftovers. */
    static final String TEMPORARY = ".temporary-";

    private static final long MEGABYTE = 1_000_000;
    private static final String LOCK_FILE = "libtorch.lock";
    private static final Logger LOG = LoggerFactory.getLogger(LibtorchCache.class);

    /** Returns the unpacked libraries of an artifact; unpacks them if they are missing or damaged. */
    LibtorchFolder provide(LibtorchArtifact artifact) {
        Path folder = root.resolve("libtorch-" + artifact.version() + "-" + artifact.classifier());
        markInUse(folder);
        if (damage(folder, artifact) != null) {
            Path realRoot = createRoot();
            Path target = realRoot.resolve(folder.getFileName());
            try {
                unpackUnderLock(realRoot.resolve(LOCK_FILE), target, artifact);
            } catch (FileLockInterruptionException e) {
                throw new LibtorchException(
                        "interrupted while waiting for another process that is unpacking libtorch", e);
            } catch (IOException e) {
                throw notWritable(realRoot, e);
            }
            markInUse(folder);
        }
        String origin = "Maven artifact " + artifact.release() + " unpacked into the cache";
        return new LibtorchFolder(folder, origin, artifact.release());
    }

    /** The lock file is never deleted: a deleted one could be locked twice. */
    private void unpackUnderLock(Path file, Path target, LibtorchArtifact artifact) throws IOException {
        // Locks of the operating system belong to the process and are lost when any channel on the file is closed.
        // An interned string is the same object for every class loader, which a static field is not.
        synchronized (("org.gramian.tensor.library.LibtorchCache:" + file).intern()) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                // closing the channel releases the lock
                if (channel.tryLock() == null) {
                    progress.accept("waiting for another process that is unpacking libtorch into " + root);
                    channel.lock();
                }
                // Another process may have unpacked it meanwhile.
                String damage = damage(target, artifact);
                if (damage != null) {
                    if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
                        progress.accept("the unpacked libtorch is damaged, unpacking again: " + damage);
                    }
                    unpack(artifact, target);
                }
            }
        }
    }

    /** Marks a folder as used until the process ends, since libraries may be loaded from it at any time. */
    private void markInUse(Path folder) {
        if (Files.isDirectory(root)) {
            try {
                SharedFolderLock.hold(folder);
            } catch (IOException _) {
                // a folder that cannot be marked is not pruned either
            }
        }
    }

    /** Returns why a folder cannot be used, or null; compares sizes only, fast enough for every start. */
    private static @Nullable String damage(Path folder, LibtorchArtifact artifact) {
        Manifest manifest = Manifest.readFrom(folder);
        if (manifest == null) {
            return folder.resolve(Manifest.FILE_NAME) + " is missing or unreadable";
        }
        if (!manifest.names().equals(artifact.names())) {
            return folder + " holds other libraries than the artifact";
        }
        List<String> problems = manifest.problems(folder, false);
        return problems.isEmpty() ? null : String.join("; ", problems);
    }

    private Path createRoot() {
        try {
            // createDirectories alone would reject a link to a folder
            if (!Files.isDirectory(root)) {
                Files.createDirectories(root);
            }
            // Two names of one folder must not be two locks.
            return root.toRealPath();
        } catch (IOException e) {
            throw notWritable(root, e);
        }
    }

    /** Unpacks an artifact while holding the lock; replaces a damaged folder. */
    private void unpack(LibtorchArtifact artifact, Path target) {
        Path folder = Objects.requireNonNull(target.getParent());
        long needed = artifact.bytes();
        try {
            deleteLeftovers(folder);
            long free = DiskSpace.usable(folder);
            if (free < needed) {
                throw new LibtorchException("unpacking libtorch into " + folder + " needs " + megabytes(needed)
                        + ", only "
                        + megabytes(free) + " are free. Free disk space, or set " + LibtorchSettings.CACHE_VARIABLE
                        + " to a folder on a larger disk");
            }
            progress.accept("unpacking libtorch " + artifact.release() + " (" + megabytes(needed) + ") into " + target
                    + ", once");
            writeLibraries(artifact, target, folder);
        } catch (IOException e) {
            throw notWritable(folder, e);
        }
    }

    private void writeLibraries(LibtorchArtifact artifact, Path target, Path folder) throws IOException {
        Path temporary = temporary(target);
        try {
            // Not createTempDirectory: its folders are closed to the other users of a shared cache.
            Files.createDirectory(temporary);
            List<Manifest.Entry> entries = new ArrayList<>();
            for (LibtorchArtifact.Library library : artifact.libraries()) {
                Path file = temporary.resolve(library.name());
                entries.add(library.copyTo(file));
                flush(file, StandardOpenOption.WRITE);
            }
            new Manifest(entries).write(temporary);
            flushFolder(temporary);
            if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
                // Renamed before it is deleted: running programs keep its files, new ones do not see them.
                Files.move(target, temporary(target), StandardCopyOption.ATOMIC_MOVE);
            }
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
            flushFolder(folder);
        } finally {
            // After success, this removes the damaged folder; after a failure, the unfinished one.
            deleteLeftovers(folder);
        }
    }

    private static Path temporary(Path target) {
        return target.resolveSibling(target.getFileName() + TEMPORARY + UUID.randomUUID());
    }

    /** Deletes unfinished folders; ignores those in use or of another user. */
    private static void deleteLeftovers(Path folder) throws IOException {
        List<Path> leftovers;
        try (Stream<Path> children = Files.list(folder)) {
            leftovers = children.filter(LibtorchCache::isTemporary).toList();
        }
        for (Path leftover : leftovers) {
            try {
                delete(leftover);
            } catch (IOException | UncheckedIOException e) {
                LOG.warn("{} is left over from an interrupted unpacking and cannot be deleted: {}", leftover, e);
            }
        }
    }

    private static void delete(Path tree) throws IOException {
        try (Stream<Path> paths = Files.walk(tree)) {
            // Deepest first, so that folders are empty when their turn comes.
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }

    private static boolean isTemporary(Path path) {
        String name = path.getFileName().toString();
        return name.startsWith("libtorch-") && name.contains(TEMPORARY);
    }

    private static void flush(Path path, StandardOpenOption access) throws IOException {
        try (FileChannel channel = FileChannel.open(path, access)) {
            channel.force(true);
        }
    }

    private static void flushFolder(Path folder) throws IOException {
        // Windows cannot open folders, and needs no flush of them.
        if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            flush(folder, StandardOpenOption.READ);
        }
    }

    private static LibtorchException notWritable(Path folder, IOException cause) {
        return new LibtorchException(
                "libtorch is unpacked into the cache folder " + folder
                        + ", which must be a writable folder with free space; found " + cause
                        + ". Set the environment variable " + LibtorchSettings.CACHE_VARIABLE + " to such a folder, or "
                        + LibtorchSettings.FOLDER_VARIABLE + " to an installed libtorch",
                cause);
    }

    /** Formats a size, rounded up: it is compared with free space. */
    private static String megabytes(long bytes) {
        return bytes < MEGABYTE ? bytes + " bytes" : Math.ceilDiv(bytes, MEGABYTE) + " MB";
    }
}
