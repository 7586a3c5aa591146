package org.gramian.backbone.weights;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.backbone.PublicFile;
import org.gramian.backbone.weights.DownloadException.Kind;
import org.jspecify.annotations.Nullable;

/**
 * Downloads a public file into a folder. Partial data is kept in {@code FILE.part}, so that an interrupted download
 * resumes in this run or a later one; the file is used only if its SHA-256 matches.
 */
public final class Download {
    /** Twice the size of the largest published file. */
    static final long MAX_BYTES = 1L << 30;

    /** Consecutive connections that may deliver less than a chunk. */
    private static final int MAX_POOR_ATTEMPTS = 5;

    private static final int CHUNK = 1 << 16;
    private static final Set<String> LOCAL = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final int OK = 200;
    private static final int PARTIAL = 206;
    private static final int NOT_SATISFIABLE = 416;

    private final Optional<URI> mirror;
    private final Duration patience;
    private final LongFunction<LongConsumer> progress;
    private final Consumer<String> notice;
    private final boolean plainHttp;

    /**
     * Creates a download.
     *
     * @param mirror URL of a folder with the files; empty for the publishers' addresses
     * @param patience connect and read timeout
     * @param progress given the total size, returns a callback for the bytes received
     * @param notice receives other events, one sentence each
     */
    public Download(
            Optional<URI> mirror, Duration patience, LongFunction<LongConsumer> progress, Consumer<String> notice) {
        this(mirror, patience, progress, notice, false);
    }

    /**
     * Creates a download.
     *
     * @param plainHttp whether a file that only some digits of its SHA-256 identify may come over plain HTTP
     */
    public Download(
            Optional<URI> mirror,
            Duration patience,
            LongFunction<LongConsumer> progress,
            Consumer<String> notice,
            boolean plainHttp) {
        this.plainHttp = plainHttp;
        this.mirror = mirror.map(
                base -> base.getRawPath() == null || base.getRawPath().endsWith("/") ? base : URI.create(base + "/"));
        this.patience = patience;
        this.progress = progress;
        this.notice = notice;
    }

    /** Returns the URL of a file. */
    public URI address(PublicFile file) {
        return mirror.map(base -> base.resolve(file.file())).orElse(file.url());
    }

    /**
     * Downloads a file or the rest of it.
     *
     * @return the complete, verified file, still under its partial name
     * @throws DownloadException if the server is unreachable, lacks the file or sends another one
     */
    PartialFile fetch(PublicFile file, Path folder) throws IOException {
        requireSafe(file);
        PartialFile part = new PartialFile(folder.resolve(file.file() + ".part"));
        if (part.size() > 0 && file.matches(WeightFingerprint.of(part.path()))) {
            notice.accept(part.path() + " is complete: no download needed");
            return part;
        }
        try (HttpClient client = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NORMAL)
                .connectTimeout(patience)
                .build()) {
            fetch(client, address(file), part);
        }
        String sha256 = WeightFingerprint.of(part.path());
        if (!file.matches(sha256)) {
            part.delete();
            throw new DownloadException(
                    Kind.OTHER,
                    ("%s was downloaded, but is not the published file: expected a SHA-256 that starts with %3$s,"
                                    + " found %2$s; the file was deleted")
                            .formatted(
                                    address(file),
                                    sha256.substring(0, file.sha256().length()),
                                    file.sha256()));
        }
        return part;
    }

    /** Refuses plain HTTP to another machine for a file that the SHA-256 does not identify for certain. */
    private void requireSafe(PublicFile file) throws DownloadException {
        URI address = address(file);
        boolean local = address.getHost() != null && LOCAL.contains(address.getHost());
        if (file.isWeak() && !"https".equals(address.getScheme()) && !local && !plainHttp) {
            throw new DownloadException(
                    Kind.OTHER,
                    "expected an address that begins with https://, since only the first "
                            + file.sha256().length() + " digits of the SHA-256 of " + file.file()
                            + " are published, which a forged file can match, found " + address
                            + "; use https, or --allow-http in a network that you trust");
        }
    }

    /** Retries as long as data arrives: a large file may need many connections, but each must deliver some data. */
    private void fetch(HttpClient client, URI address, PartialFile part) throws IOException {
        int poor = 0;
        while (true) {
            long before = part.size();
            try {
                if (attempt(client, address, part)) {
                    return;
                }
            } catch (DownloadException e) {
                throw e;
            } catch (IOException e) {
                long gained = part.size() - before;
                poor = gained < CHUNK ? poor + 1 : 0;
                if (gained <= 0 || poor == MAX_POOR_ATTEMPTS) {
                    throw new DownloadException(
                            Kind.NO_CONNECTION,
                            address + " could not be downloaded: " + reason(e)
                                    + (part.size() > 0
                                            ? "; " + part.size() + " bytes are kept; a retry resumes from there"
                                            : ""),
                            e);
                }
                notice.accept("the download was interrupted after " + part.size() + " bytes: resuming");
            }
        }
    }

    /** Describes a failed connection: messages of {@code java.net.http} are often empty. */
    private static String reason(IOException failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case UnresolvedAddressException _ -> {
                    return "the server's name cannot be resolved; there may be no network";
                }
                case UnknownHostException _ -> {
                    return "the server's name cannot be resolved; there may be no network";
                }
                case HttpTimeoutException _ -> {
                    return "the server did not respond in time";
                }
                default -> {
                    // look at the cause
                }
            }
        }
        if (failure instanceof ConnectException) {
            return "cannot connect to the server";
        }
        String message = failure.getMessage();
        // The sentence around it has its own full stop.
        return message == null
                ? failure.getClass().getSimpleName()
                : message.strip().replaceAll("[.!?]+$", "");
    }

    /** Sends one request; returns true if the file is complete, false if the download must restart. */
    private boolean attempt(HttpClient client, URI address, PartialFile part) throws IOException {
        long have = part.size();
        HttpRequest.Builder request = HttpRequest.newBuilder(address).GET();
        if (have > 0) {
            request.header("Range", "bytes=" + have + "-");
            part.version().ifPresent(version -> request.header("If-Range", version));
        }
        HttpResponse<InputStream> response = send(client, request.build());
        try (InputStream body = response.body()) {
            ContentRange range = ContentRange.of(response);
            return switch (response.statusCode()) {
                case OK -> {
                    if (have > 0) {
                        notice.accept("the server does not support resuming: restarting");
                    }
                    part.begin(response);
                    yield receive(body, part, range.total());
                }
                case PARTIAL -> {
                    if (range.start() != have) {
                        yield restart(part, have, address);
                    }
                    notice.accept("resuming after " + have + " bytes");
                    yield receive(body, part, range.total());
                }
                // Complete, if the process was killed after the last byte.
                case NOT_SATISFIABLE -> range.total() == have || restart(part, have, address);
                default ->
                    throw new DownloadException(
                            Kind.NOT_THERE, "the server returned HTTP " + response.statusCode() + " for " + address);
            };
        }
    }

    /** Deletes the partial file for a restart; fails if the server returns a range although none was requested. */
    private static boolean restart(PartialFile part, long have, URI address) throws IOException {
        if (have == 0) {
            throw new DownloadException(
                    Kind.NOT_THERE, "the server returned a part of " + address + " instead of the whole file");
        }
        part.delete();
        return false;
    }

    /**
     * Waits for the response headers only: a request timeout covers the body on some versions of Java, and half a
     * gigabyte takes long.
     */
    private HttpResponse<InputStream> send(HttpClient client, HttpRequest request) throws IOException {
        CompletableFuture<HttpResponse<InputStream>> answer = client.sendAsync(request, BodyHandlers.ofInputStream());
        try {
            return answer.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw new HttpTimeoutException("no response within " + patience.toSeconds() + " s");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
        } catch (InterruptedException e) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            throw new DownloadException(Kind.OTHER, "the download was interrupted", e);
        }
    }

    /** Receives the rest of the file; returns true, or throws if the connection ends early. */
    private boolean receive(InputStream body, PartialFile part, long total) throws IOException {
        requireBounded(total);
        part.requireSpace(total);
        LongConsumer shown = progress.apply(total);
        long done = part.size();
        byte[] chunk = new byte[CHUNK];
        try (PartialFile.Appender out = part.append();
                StallGuard guard = StallGuard.watch(body, patience)) {
            for (int count = guard.read(chunk); count >= 0; count = guard.read(chunk)) {
                out.write(chunk, count);
                done += count;
                requireBounded(done);
                shown.accept(done);
            }
        }
        if (total >= 0 && done < total) {
            throw new IOException("the connection ended after " + done + " of " + total + " bytes");
        }
        return true;
    }

    private static void requireBounded(long bytes) throws DownloadException {
        if (bytes > MAX_BYTES) {
            throw new DownloadException(
                    Kind.OTHER, "the server sends more than " + MAX_BYTES + " bytes, more than any published file");
        }
    }

    /**
     * Range of a file in a response.
     *
     * @param start offset of the first byte
     * @param total size of the whole file, or -1 if unknown
     */
    private record ContentRange(long start, long total) {
        private static final Pattern FORM = Pattern.compile("bytes (?:(\\d{1,18})-\\d{1,18}|\\*)/(\\d{1,18}|\\*)");

        static ContentRange of(HttpResponse<?> response) {
            String header = response.headers().firstValue("Content-Range").orElse("");
            Matcher range = FORM.matcher(header);
            if (range.matches()) {
                long start = range.group(1) == null ? 0 : Long.parseLong(range.group(1));
                return new ContentRange(start, range.group(2).equals("*") ? -1 : Long.parseLong(range.group(2)));
            }
            String length = response.headers().firstValue("Content-Length").orElse("");
            return new ContentRange(0, length.matches("\\d{1,18}") ? Long.parseLong(length) : -1);
        }
    }

    /** Read timeout: closes a stream that delivers no data for too long. */
    private static final class StallGuard implements AutoCloseable {
        private final InputStream watched;
        private final long limitNanos;
        private volatile long last = System.nanoTime();
        private volatile boolean done;
        private volatile boolean stalled;

        private StallGuard(InputStream watched, Duration limit) {
            this.watched = watched;
            this.limitNanos = limit.toNanos();
        }

        static StallGuard watch(InputStream watched, Duration limit) {
            StallGuard guard = new StallGuard(watched, limit);
            Thread.ofVirtual().name("stall guard").start(guard::run);
            return guard;
        }

        /** Reads from the stream, subject to the timeout. */
        int read(byte[] target) throws IOException {
            try {
                int count = watched.read(target);
                last = System.nanoTime();
                if (!stalled) {
                    return count;
                }
            } catch (IOException e) {
                if (!stalled) {
                    throw e;
                }
            }
            throw new IOException(
                    "no data received for " + Duration.ofNanos(limitNanos).toSeconds() + " s");
        }

        private void run() {
            while (!done) {
                long left = limitNanos - (System.nanoTime() - last);
                if (left <= 0) {
                    stalled = true;
                    try {
                        watched.close();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    return;
                }
                try {
                    Thread.sleep(Duration.ofNanos(Math.min(left, limitNanos / 4 + 1)));
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        @Override
        public void close() {
            done = true;
        }
    }
}
