package org.gramian.serve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;

/** What tells one version of a file from another without reading it. */
record FileVersion(long bytes, long millis, String key) {
    /** Of a file as it is now, if it is there. */
    static Optional<FileVersion> of(Path file) {
        try {
            BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
            return Optional.of(new FileVersion(
                    found.size(), found.lastModifiedTime().toMillis(), String.valueOf(found.fileKey())));
        } catch (IOException _) {
            return Optional.empty();
        }
    }
}
