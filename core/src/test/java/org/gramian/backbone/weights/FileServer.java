package org.gramian.backbone.weights;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A web server with one file, which can cut its answer or stall. */
final class FileServer implements AutoCloseable {
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final byte[] content;
    private final AtomicInteger requests = new AtomicInteger();
    private volatile int cutAfter = -1;
    private volatile int stallAfter = -1;
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

    /** The number of requests so far. */
    int requests() {
        return requests.get();
    }

    /** Ends the next answer, and only that, after so many bytes. */
    void cutAfter(int bytes) {
        cutAfter = bytes;
    }

    /** Falls silent in every answer when so many bytes of the file were sent. */
    void stallAfter(int bytes) {
        stallAfter = bytes;
    }

    /** Takes requests and answers none. */
    void keepSilent() {
        silent = true;
    }

    private void answer(HttpExchange exchange) throws IOException {
        requests.incrementAndGet();
        if (silent) {
            awaitClosing();
        }
        try (exchange) {
            exchange.sendResponseHeaders(200, content.length);
            send(exchange.getResponseBody());
        }
    }

    private void send(OutputStream body) throws IOException {
        int cut = cutAfter;
        cutAfter = -1;
        int end = cut >= 0 ? cut : stallAfter >= 0 ? stallAfter : content.length;
        body.write(content, 0, end);
        body.flush();
        if (stallAfter >= 0) {
            awaitClosing();
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
