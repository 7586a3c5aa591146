package org.gramian.backbone.weights;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A web server with one file of version {@code "one"}, which can be cut, stall or know no ranges. */
final class FileServer implements AutoCloseable {
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final byte[] content;
    private final List<String> ranges = Collections.synchronizedList(new ArrayList<>());
    private final List<String> versions = Collections.synchronizedList(new ArrayList<>());
    private volatile boolean ranged = true;
    private volatile int cutAfter = -1;
    private volatile int stallAfter = -1;
    private volatile int cutEvery = Integer.MAX_VALUE;
    private volatile int pauseEvery = Integer.MAX_VALUE;
    private volatile Duration pause = Duration.ZERO;
    private volatile boolean silent;

    FileServer(String path, byte[] content) throws IOException {
        this.content = content;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext(path, this::answer);
        server.createContext("/moved/", exchange -> {
            exchange.getResponseHeaders().set("Location", path);
            exchange.sendResponseHeaders(302, -1);
            exchange.close();
        });
        server.start();
    }

    URI base() {
        return URI.create("http://localhost:" + server.getAddress().getPort() + "/models/");
    }

    /** The ranges that were asked for, one for each request; empty if none. */
    List<String> ranges() {
        return List.copyOf(ranges);
    }

    /** The versions that were asked for, one for each request. */
    List<String> versions() {
        return List.copyOf(versions);
    }

    void ignoreRanges() {
        ranged = false;
    }

    /** Ends the next answer, and only that, after so many bytes. */
    void cutAfter(int bytes) {
        cutAfter = bytes;
    }

    /** Falls silent in every answer when so many bytes of the file were sent. */
    void stallAfter(int bytes) {
        stallAfter = bytes;
    }

    /** Ends every answer after so many bytes. */
    void cutEvery(int bytes) {
        cutEvery = bytes;
    }

    /** Rests in every answer after each so many bytes. */
    void pause(int bytes, Duration time) {
        pauseEvery = bytes;
        pause = time;
    }

    /** Takes requests and answers none. */
    void keepSilent() {
        silent = true;
    }

    private void answer(HttpExchange exchange) throws IOException {
        String range = Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("Range"), "");
        String version = Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("If-Range"), "");
        ranges.add(range);
        versions.add(version);
        if (silent) {
            awaitClosing();
        }
        boolean part = ranged && !range.isEmpty() && (version.isEmpty() || version.equals("\"one\""));
        int start = part ? Integer.parseInt(range.substring("bytes=".length(), range.length() - 1)) : 0;
        exchange.getResponseHeaders().set("ETag", "\"one\"");
        try (exchange) {
            if (part && start >= content.length) {
                exchange.getResponseHeaders().set("Content-Range", "bytes */" + content.length);
                exchange.sendResponseHeaders(416, -1);
                return;
            }
            if (part) {
                exchange.getResponseHeaders()
                        .set("Content-Range", "bytes %d-%d/%d".formatted(start, content.length - 1, content.length));
            }
            exchange.sendResponseHeaders(part ? 206 : 200, content.length - start);
            send(exchange.getResponseBody(), start);
        }
    }

    private void send(OutputStream body, int start) throws IOException {
        int cut = cutAfter;
        cutAfter = -1;
        int end = cut >= 0 ? cut : stallAfter >= 0 ? Math.max(start, stallAfter) : content.length;
        end = (int) Math.min(end, (long) start + cutEvery);
        for (int at = start; at < end; at += Math.min(pauseEvery, end - at)) {
            body.write(content, at, Math.min(pauseEvery, end - at));
            body.flush();
            rest();
        }
        if (stallAfter >= 0) {
            awaitClosing();
        }
    }

    private void rest() {
        try {
            Thread.sleep(pause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitClosing() {
        try {
            closing.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closing.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
