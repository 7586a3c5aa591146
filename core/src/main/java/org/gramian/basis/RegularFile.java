package org.gramian.basis;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;

/** Files that are opened for reading: opening a pipe would block, and a device has no end. */
public final class RegularFile {
    private RegularFile() {}

    /** A directory, pipe, socket or device; the reason says which. */
    public static final class NotRegularException extends FileSystemException {
        private static final long serialVersionUID = 1;

        private NotRegularException(Path path, String kind) {
            super(path.toString(), null, "expected a file, found " + kind);
        }
    }

    /**
     * Returns the attributes of a regular file, to be called before it is opened.
     *
     * @throws NotRegularException if it is none
     * @throws IOException if it cannot be accessed
     */
    public static BasicFileAttributes attributes(Path path) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        if (!attributes.isRegularFile()) {
            String kind = attributes.isDirectory() ? "a directory" : "something that is not a regular file";
            throw new NotRegularException(path, kind);
        }
        return attributes;
    }

    /** Returns the content of a regular file. */
    public static byte[] bytes(Path path) throws IOException {
        attributes(path);
        return Files.readAllBytes(path);
    }

    /** Returns the lines of a regular file in UTF-8. */
    public static List<String> lines(Path path) throws IOException {
        attributes(path);
        return Files.readAllLines(path, StandardCharsets.UTF_8);
    }
}
