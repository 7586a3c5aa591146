package org.gramian.tensor.library;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Unpacks an artifact while holding the lock of the cache.
 *
 * @param artifact artifact to unpack
 * @param target target folder; a damaged one is replaced
 * @param disk free space and file creation
 * @param progress called once, before unpacking starts
 */
record LibtorchUnpacker(LibtorchArtifact artifact, Path target, Disk disk, Consumer<String> progress) {
    /** Prefix of unfinished folders; only the holder of the lock has one, so all others are leftovers. */
    static final String TEMPORARY = ".temporary-";

    private static final Logger LOG = LoggerFactory.getLogger(LibtorchUnpacker.class);

    Path run() {
        Path root = root();
        long needed = 0;
        try {
            deleteLeftovers(root);
            needed = artifact.bytes();
            long free = disk.usableSpace(root);
            if (free < needed) {
                throw UnpackingFailures.notEnoughSpace(root, needed, free);
            }
            progress.accept("unpacking libtorch " + artifact.release() + " (" + UnpackingFailures.megabytes(needed)
                    + ") into " + target + ", once");
            unpack(root);
            return target;
        } catch (IOException e) {
            throw UnpackingFailures.isDiskFull(e)
                    ? UnpackingFailures.diskFull(root, needed, e)
                    : UnpackingFailures.notWritable(root, e);
        }
    }

    private void unpack(Path root) throws IOException {
        Path temporary = temporary();
        try {
            // Not createTempDirectory: its folders are closed to the other users of a shared cache.
            Files.createDirectory(temporary);
            List<LibtorchManifest.Entry> entries = new ArrayList<>();
            for (LibtorchLibrary library : artifact.libraries()) {
                Path file = temporary.resolve(library.name());
                entries.add(library.copyTo(file, disk));
                flush(file);
            }
            Path manifest = temporary.resolve(LibtorchManifest.FILE_NAME);
            try (var out = disk.create(manifest)) {
                out.write(new LibtorchManifest(entries).text().getBytes(StandardCharsets.UTF_8));
            }
            flush(manifest);
            flushFolder(temporary);
            moveAside();
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
            flushFolder(root);
        } finally {
            // Nothing is left of the first after success; after a failure it would only take room.
            deleteLeftovers(root);
        }
    }

    /** Renames a damaged folder before deleting it: running programs keep its files, new ones do not see them. */
    private void moveAside() throws IOException {
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            Files.move(target, temporary(), StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private Path root() {
        return Objects.requireNonNull(target.getParent());
    }

    private Path temporary() {
        return target.resolveSibling(target.getFileName() + TEMPORARY + UUID.randomUUID());
    }

    /** Deletes unfinished folders; ignores those in use or of another user. */
    private static void deleteLeftovers(Path root) throws IOException {
        List<Path> leftovers;
        try (Stream<Path> children = Files.list(root)) {
            leftovers = children.filter(LibtorchUnpacker::isTemporary).toList();
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

    private static void flush(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
    }

    private static void flushFolder(Path folder) throws IOException {
        // Windows cannot open folders, and needs no flush of them.
        if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }
}
