package org.gramian.backbone.weights;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.gramian.backbone.PublicFile;
import org.gramian.basis.DiskSpace;
import org.gramian.basis.Sha256;

/** Downloads a public file; it is used only if its SHA-256 matches. */
public final class Download {
    /** Twice the size of the largest published file. */
    static final long MAX_BYTES = 1L << 30;

    private static final int CHUNK = 1 << 16;

    private final Optional<URI> mirror;
    private final Duration timeout;
    private final LongFunction<LongConsumer> progress;

    public Download(Optional<URI> mirror, Duration timeout, LongFunction<LongConsumer> progress) {
        this.mirror = mirror.map(
                base -> base.getRawPath() == null || base.getRawPath().endsWith("/") ? base : URI.create(base + "/"));
        this.timeout = timeout;
        this.progress = progress;
    }

    public URI address(PublicFile file) {
        return mirror.map(base -> base.resolve(file.file())).orElse(file.url());
    }

    /**
     * Downloads a file and verifies it.
     *
     * @param target file that does not exist yet; it may be incomplete or wrong after an exception
     */
    void fetch(PublicFile file, Path target) throws IOException {
        URI address = address(file);
        try {
            receive(address, target);
        } catch (FileSystemException e) {
            throw e;
        } catch (IOException e) {
            throw new UnavailableException(address + " could not be downloaded: " + reason(e), e);
        }
        requirePublished(address + ", as it was downloaded,", target, file);
    }

    /** Refuses a file with another SHA-256. */
    static void requirePublished(String origin, Path local, PublicFile file) throws IOException {
        String sha256 = Sha256.hex(Sha256.of(local));
        if (!file.sha256().equals(sha256)) {
            throw new IOException(origin + " is not the published file: expected the SHA-256 " + file.sha256()
                    + ", found " + sha256 + "; delete it and retry");
        }
    }

    /** Describes a failed connection: messages of {@code java.net} are often empty or a bare host name. */
    private static String reason(IOException failure) {
        return switch (failure) {
            case UnknownHostException _ -> "the server's name cannot be resolved; there may be no network";
            case SocketTimeoutException _ -> "the server did not respond in time";
            case ConnectException _ -> "cannot connect to the server";
            default -> String.valueOf(failure.getMessage());
        };
    }

    private void receive(URI address, Path target) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
        int millis = (int) Math.min(Integer.MAX_VALUE, timeout.toMillis());
        connection.setConnectTimeout(millis);
        connection.setReadTimeout(millis);
        try {
            int status = connection.getResponseCode();
            if (status != HttpURLConnection.HTTP_OK) {
                throw new IOException("the server returned HTTP " + status);
            }
            long total = connection.getContentLengthLong();
            requireBounded(total);
            requireSpace(target, total);
            LongConsumer shown = progress.apply(total);
            long done = 0;
            try (InputStream body = connection.getInputStream();
                    OutputStream out = Files.newOutputStream(target)) {
                for (byte[] chunk = body.readNBytes(CHUNK); chunk.length > 0; chunk = body.readNBytes(CHUNK)) {
                    out.write(chunk);
                    done += chunk.length;
                    requireBounded(done);
                    shown.accept(done);
                }
            }
            if (total >= 0 && done < total) {
                throw new IOException("the connection ended after " + done + " of " + total + " bytes");
            }
        } finally {
            connection.disconnect();
        }
    }

    private static void requireBounded(long bytes) throws IOException {
        if (bytes > MAX_BYTES) {
            throw new IOException("the server sends more than " + MAX_BYTES + " bytes, more than any published file");
        }
    }

    /** Checks the free space for the file and its converted copy. */
    private static void requireSpace(Path target, long total) throws IOException {
        Path folder = target.toAbsolutePath().getParent();
        long usable = folder == null ? Long.MAX_VALUE : DiskSpace.usable(folder);
        if (usable < 2 * total) {
            throw new FileSystemException(
                    String.valueOf(folder),
                    null,
                    "%d MiB of free space; the file and its converted copy need %d MiB"
                            .formatted(usable >> 20, (2 * total) >> 20));
        }
    }

    /** Thrown if a server does not give a file that another machine or server may give. */
    static final class UnavailableException extends IOException {
        private static final long serialVersionUID = 1L;

        UnavailableException(String message, Throwable cause) {
            super(message, cause);
        }
    }
}
