package org.gramian.backbone.weights;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.gramian.backbone.PublicFile;
import org.gramian.basis.DiskSpace;
import org.gramian.basis.Sha256;
import org.jspecify.annotations.Nullable;

/** Downloads a public file; it is used only if its SHA-256 matches. */
public final class Download {
    /** Twice the size of the largest published file. */
    static final long MAX_BYTES = 1L << 30;

    private static final int CHUNK = 1 << 16;
    private static final Set<String> LOCAL_HOSTS = Set.of("localhost", "127.0.0.1", "[::1]");

    private final Optional<URI> mirror;
    private final Duration timeout;
    private final LongFunction<LongConsumer> progress;
    private final boolean plainHttp;

    /**
     * Creates a download.
     *
     * @param mirror URL of a folder with the files; empty for the publishers' addresses
     * @param progress given the total size, returns a callback for the bytes received
     * @param plainHttp whether a file that only some digits of its SHA-256 identify may come over plain HTTP
     */
    public Download(Optional<URI> mirror, Duration timeout, LongFunction<LongConsumer> progress, boolean plainHttp) {
        this.mirror = mirror.map(
                base -> base.getRawPath() == null || base.getRawPath().endsWith("/") ? base : URI.create(base + "/"));
        this.timeout = timeout;
        this.progress = progress;
        this.plainHttp = plainHttp;
    }

    /** Returns the URL of a file. */
    public URI address(PublicFile file) {
        return mirror.map(base -> base.resolve(file.file())).orElse(file.url());
    }

    /**
     * Downloads a file and verifies it.
     *
     * @param target file that does not exist yet; it may be incomplete or wrong after an exception
     * @throws FailedException if the server is unreachable, lacks the file or sends another one
     */
    void fetch(PublicFile file, Path target) throws IOException {
        requireSafe(file);
        URI address = address(file);
        try {
            receive(address, target);
        } catch (FailedException e) {
            throw e;
        } catch (IOException e) {
            throw new FailedException(Kind.NO_CONNECTION, address + " could not be downloaded: " + reason(e), e);
        }
        String sha256 = Sha256.hex(Sha256.of(target));
        if (!file.matches(sha256)) {
            throw new FailedException(
                    Kind.OTHER,
                    ("%s was downloaded, but is not the published file: expected a SHA-256 that starts with %3$s,"
                                    + " found %2$s; the file was deleted")
                            .formatted(
                                    address, sha256.substring(0, file.sha256().length()), file.sha256()));
        }
    }

    /** Refuses plain HTTP to another machine for a file that the SHA-256 does not identify for certain. */
    private void requireSafe(PublicFile file) throws FailedException {
        URI address = address(file);
        boolean local = address.getHost() != null && LOCAL_HOSTS.contains(address.getHost());
        if (file.isWeak() && !"https".equals(address.getScheme()) && !local && !plainHttp) {
            throw new FailedException(
                    Kind.OTHER,
                    "expected an address that begins with https://, since only the first "
                            + file.sha256().length() + " digits of the SHA-256 of " + file.file()
                            + " are published, which a forged file can match, found " + address
                            + "; use https, or --allow-http in a network that you trust");
        }
    }

    /** Describes a failed connection: messages of {@code java.net} are often empty or a bare host name. */
    private static String reason(IOException failure) {
        return switch (failure) {
            case UnknownHostException _ -> "the server's name cannot be resolved; there may be no network";
            case SocketTimeoutException _ -> "the server did not respond in time";
            case ConnectException _ -> "cannot connect to the server";
            default -> {
                String message = failure.getMessage();
                // The sentence around it has its own full stop.
                yield message == null
                        ? failure.getClass().getSimpleName()
                        : message.strip().replaceAll("[.!?]+$", "");
            }
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
                throw new FailedException(Kind.NOT_FOUND, "the server returned HTTP " + status + " for " + address);
            }
            long total = connection.getContentLengthLong();
            requireBounded(total);
            requireSpace(target, total);
            try (InputStream body = connection.getInputStream()) {
                long done = copy(body, target, progress.apply(total));
                if (total >= 0 && done < total) {
                    throw new IOException("the connection ended after " + done + " of " + total + " bytes");
                }
            }
        } finally {
            connection.disconnect();
        }
    }

    /** Reports disk errors as {@link FailedException}, unlike connection errors. */
    private static long copy(InputStream body, Path target, LongConsumer shown) throws IOException {
        long done = 0;
        try (OutputStream out = open(target)) {
            for (byte[] chunk = body.readNBytes(CHUNK); chunk.length > 0; chunk = body.readNBytes(CHUNK)) {
                try {
                    out.write(chunk);
                } catch (IOException e) {
                    throw notWritable(target, e);
                }
                done += chunk.length;
                requireBounded(done);
                shown.accept(done);
            }
        }
        return done;
    }

    private static OutputStream open(Path target) throws FailedException {
        try {
            return Files.newOutputStream(target);
        } catch (IOException e) {
            throw notWritable(target, e);
        }
    }

    private static FailedException notWritable(Path target, IOException cause) {
        return new FailedException(Kind.OTHER, target + " cannot be written: " + cause.getMessage(), cause);
    }

    private static void requireBounded(long bytes) throws FailedException {
        if (bytes > MAX_BYTES) {
            throw new FailedException(
                    Kind.OTHER, "the server sends more than " + MAX_BYTES + " bytes, more than any published file");
        }
    }

    /** Checks the free space for the file and its converted copy. */
    private static void requireSpace(Path target, long total) throws IOException {
        Path folder = target.toAbsolutePath().getParent();
        long usable = folder == null ? Long.MAX_VALUE : DiskSpace.usable(folder);
        if (usable < 2 * total) {
            throw new FailedException(
                    Kind.OTHER,
                    "%s has %d MiB of free space; the file and its converted copy need %d MiB"
                            .formatted(folder, usable >> 20, (2 * total) >> 20));
        }
    }

    /** Kind of failure. */
    enum Kind {
        /** The server is unreachable or stalls; another machine may succeed. */
        NO_CONNECTION,
        /** The server does not have the file; another server may. */
        NOT_FOUND,
        /** The file is wrong or does not fit on the disk; downloading it elsewhere does not help. */
        OTHER
    }

    /** Thrown if a download fails. */
    static final class FailedException extends IOException {
        private static final long serialVersionUID = 1L;

        private final Kind kind;

        FailedException(Kind kind, String message, @Nullable Throwable cause) {
            super(message, cause);
            this.kind = kind;
        }

        FailedException(Kind kind, String message) {
            this(kind, message, null);
        }

        Kind kind() {
            return kind;
        }
    }
}
