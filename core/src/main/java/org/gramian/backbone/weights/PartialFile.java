package org.gramian.backbone.weights;

import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.gramian.backbone.weights.DownloadException.Kind;
import org.gramian.basis.DiskSpace;

/**
 * Partial download with the version of the file it belongs to, so that parts of two versions are never joined.
 *
 * @param path received bytes; need not exist
 */
record PartialFile(Path path) {
    long size() throws IOException {
        return Files.exists(path) ? Files.size(path) : 0;
    }

    private Path versionFile() {
        return path.resolveSibling(path.getFileName() + ".version");
    }

    /** Returns the server's version of the file: its entity tag, else its modification date. */
    Optional<String> version() throws IOException {
        try {
            String version = Files.readString(versionFile(), StandardCharsets.ISO_8859_1);
            boolean plain = !version.isEmpty() && version.chars().allMatch(c -> c >= ' ' && c < 0x7f);
            return plain ? Optional.of(version) : Optional.empty();
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    /** Deletes the received bytes and stores the version from the response. */
    void begin(HttpResponse<?> response) throws IOException {
        Files.deleteIfExists(path);
        Optional<String> version = response.headers()
                .firstValue("ETag")
                .filter(tag -> !tag.startsWith("W/")) // a weak tag does not promise the same bytes
                .or(() -> response.headers().firstValue("Last-Modified"));
        if (version.isPresent()) {
            Files.writeString(versionFile(), version.get(), StandardCharsets.ISO_8859_1);
        } else {
            Files.deleteIfExists(versionFile());
        }
    }

    /** Checks the free space for the rest of the file and its converted copy. */
    void requireSpace(long total) throws IOException {
        Path folder = path.toAbsolutePath().getParent();
        long usable = folder == null ? Long.MAX_VALUE : DiskSpace.usable(folder);
        if (total > 0 && usable < 2 * total - size()) {
            throw new DownloadException(
                    Kind.OTHER,
                    "%s has %d MiB of free space; the file and its converted copy need %d MiB"
                            .formatted(folder, usable >> 20, (2 * total - size()) >> 20));
        }
    }

    /** Opens the file for appending. */
    Appender append() throws DownloadException {
        try {
            return new Appender(
                    path, Files.newOutputStream(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
        } catch (IOException e) {
            throw notWritable(path, e);
        }
    }

    /** Writes bytes and reports disk errors as {@link DownloadException}, unlike connection errors. */
    record Appender(Path path, OutputStream out) implements AutoCloseable {
        void write(byte[] bytes, int count) throws DownloadException {
            try {
                out.write(bytes, 0, count);
            } catch (IOException e) {
                throw notWritable(path, e);
            }
        }

        @Override
        public void close() throws DownloadException {
            try {
                out.close();
            } catch (IOException e) {
                throw notWritable(path, e);
            }
        }
    }

    private static DownloadException notWritable(Path path, IOException cause) {
        return new DownloadException(Kind.OTHER, path + " cannot be written: " + cause.getMessage(), cause);
    }

    void delete() throws IOException {
        Files.deleteIfExists(path);
        Files.deleteIfExists(versionFile());
    }
}
