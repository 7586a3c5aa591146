package org.gramian.basis;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.UUID;

/**
 * A file that appears under its name complete or not at all: made beside it, forced to the disk, then renamed over
 * whatever was there. On any failure the partial file is removed and the old one is left as it was.
 */
public final class WholeFile {
    private static final String BEGIN = ".gramian-";
    private static final String END = ".partial";

    private WholeFile() {}

    /** Makes a file. */
    @FunctionalInterface
    public interface Making {
        /** Makes it at a place where there is nothing yet. */
        void makeAt(Path partial) throws IOException;
    }

    /** Puts a file in place; whatever the making or the file system throws comes out as it is. */
    public static void put(Path path, Making making) throws IOException {
        Path folder = Objects.requireNonNull(path.toAbsolutePath().getParent(), "only a folder has no parent");
        // Not Files.createTempFile: its files are private to the owner, whatever the user's umask says.
        Path partial = folder.resolve(BEGIN + UUID.randomUUID() + END);
        try {
            making.makeAt(partial);
            try (FileChannel channel = FileChannel.open(partial, StandardOpenOption.WRITE)) {
                channel.force(true);
            }
            Files.move(partial, path, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(partial);
        }
    }

    /** Removes what processes that were killed left of files in a folder; nobody else may be writing there. */
    public static void sweep(Path folder) throws IOException {
        try (DirectoryStream<Path> partials = Files.newDirectoryStream(folder, BEGIN + "*" + END)) {
            for (Path partial : partials) {
                Files.deleteIfExists(partial);
            }
        }
    }

    /** Why a file could not be put: a file system's own message begins with the partial file's name, which means nothing. */
    public static String reason(IOException e) {
        String message = e instanceof FileSystemException failure ? failure.getReason() : e.getMessage();
        if (message == null) {
            return e.getClass().getSimpleName();
        }
        return message.contains("No space left") ? message + ": make room there, or name another folder" : message;
    }
}
