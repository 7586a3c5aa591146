package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.gramian.cli.TinyModel;
import org.gramian.serve.RequestBody.UploadedImage;
import org.gramian.serve.ServeOptions.Limits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Concurrent requests: batches, a full queue, shutdown and reload under load. */
class LoadTest {
    @TempDir
    private Path folder;

    /** An engine that waits for a latch and records its batch sizes. */
    private static final class Gate {
        private final CountDownLatch open = new CountDownLatch(1);
        private final List<Long> batches = new ArrayList<>();

        private LoadedModel guard(LoadedModel model) {
            return Served.computedBy(model, engine -> (crops, shape, wanted) -> {
                batches.add(shape.at(0));
                try {
                    open.await();
                } catch (InterruptedException stopped) {
                    throw new IllegalStateException(stopped);
                }
                return engine.compute(crops, shape, wanted);
            });
        }
    }

    private Served start(Gate gate, Limits.Load load) throws IOException {
        LoadedModel model = Served.load(TinyModel.write(folder.resolve("model.safetensors"), "center:32"));
        return Served.start(
                gate.guard(model),
                new ServeOptions("localhost", 0, Optional.empty(), new Limits(Limits.Upload.DEFAULT, load)));
    }

    private static CompletableFuture<HttpResponse<String>> ask(Served served, long seed) {
        HttpRequest request = served.to("/v1/predict")
                .header("Content-Type", "image/png")
                .POST(HttpRequest.BodyPublishers.ofByteArray(Served.png(seed)))
                .build();
        return served.client().sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    private static Limits.Load load(int queue, Duration answer) {
        return new Limits.Load(queue, 8, answer, Duration.ofSeconds(20));
    }

    @Test
    void batchesQueuedImagesAndRefusesAFullQueue() throws Exception {
        Gate gate = new Gate();
        try (Served served = start(gate, load(12, Duration.ofSeconds(30)))) {
            List<CompletableFuture<HttpResponse<String>>> requested = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                requested.add(ask(served, i));
            }
            awaitWaiting(served, 12);
            HttpResponse<String> refused = ask(served, 99).get(20, TimeUnit.SECONDS);
            ServerTest.assertError(refused, 429, "busy");
            assertThat(refused.headers().firstValueAsLong("Retry-After").orElse(0))
                    .isBetween(1L, 60L);
            gate.open.countDown();
            for (CompletableFuture<HttpResponse<String>> one : requested) {
                assertThat(one.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
            }
            assertThat(gate.batches.stream().mapToLong(Long::longValue).sum()).isEqualTo(12);
            assertThat(gate.batches).hasSizeLessThanOrEqualTo(4).allMatch(size -> size <= 8);
            assertThat(ask(served, 100).get().statusCode()).isEqualTo(200);
        }
    }

    private static void awaitWaiting(Served served, int images) throws Exception {
        String wanted = "gramian_images_waiting " + images + ".0";
        Served.await(() -> served.get("/metrics").body().contains(wanted));
    }

    @Test
    void refusesExplanationsBeyondTheTimeLimit() throws Exception {
        Gate gate = new Gate();
        try (Served served = start(gate, load(256, Duration.ofSeconds(60)))) {
            UploadedImage[] images = new UploadedImage[32];
            Arrays.setAll(images, i -> new UploadedImage(i + ".png", Served.png(i)));
            HttpRequest request = served.to("/v1/predict?explain=true")
                    .header("Content-Type", "multipart/form-data; boundary=xyz")
                    .POST(HttpRequest.BodyPublishers.ofByteArray(Served.form("xyz", images)))
                    .build();
            var taken = served.client().sendAsync(request, HttpResponse.BodyHandlers.ofString());
            awaitWaiting(served, 32);
            for (int i = 0; i < 2; i++) {
                HttpResponse<String> refused = served.client().send(request, HttpResponse.BodyHandlers.ofString());
                ServerTest.assertError(refused, 429, "busy");
                assertThat(refused.headers().firstValueAsLong("Retry-After").orElse(0))
                        .isEqualTo(1); // nothing is known of how long it takes
            }
            CompletableFuture<HttpResponse<String>> plain = ask(served, 1);
            awaitWaiting(served, 33);
            gate.open.countDown();
            assertThat(plain.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
            HttpResponse<String> answered = taken.get(60, TimeUnit.SECONDS);
            assertThat(answered.statusCode()).isEqualTo(200);
            assertThat(Served.json(answered).get("results")).hasSize(32).allMatch(it -> it.has("explanation"));
        }
    }

    @Test
    void requestTimesOutWhileTheModelComputes() throws Exception {
        Gate gate = new Gate();
        try (Served served = start(gate, load(12, Duration.ofMillis(300)))) {
            ServerTest.assertError(ask(served, 1).get(20, TimeUnit.SECONDS), 503, "timeout");
            gate.open.countDown();
        }
    }

    @Test
    void closeFinishesAcceptedRequestsAndRefusesOthers() throws Exception {
        Gate gate = new Gate();
        Served served = start(gate, load(12, Duration.ofSeconds(30)));
        CompletableFuture<HttpResponse<String>> taken = ask(served, 1);
        awaitWaiting(served, 1);
        CompletableFuture<Void> end = CompletableFuture.runAsync(served.server()::close);
        // An unreadable image gets 422 without the engine, until the server is closing.
        Served.await(() -> served.post("/v1/predict", "image/png", new byte[1]).statusCode() != 422);
        ServerTest.assertError(served.post("/v1/predict", "image/png", new byte[1]), 503, "stopping");
        ServerTest.assertError(served.get("/health"), 503, "stopping");
        assertThat(end.isDone()).isFalse();
        gate.open.countDown();
        assertThat(taken.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
        end.get(20, TimeUnit.SECONDS);
        served.client().shutdownNow();
    }

    @Test
    void announcedBodyBlocksNoOtherRequest() throws Exception {
        Gate gate = new Gate();
        gate.open.countDown();
        int announced = Limits.Upload.DEFAULT.bytes();
        List<Socket> silent = new ArrayList<>();
        try (Served served = start(gate, Limits.Load.DEFAULT)) {
            for (long room = 0; room <= Runtime.getRuntime().maxMemory() / 8; room += announced) {
                Socket socket = new Socket("localhost", served.server().port());
                silent.add(socket);
                socket.getOutputStream()
                        .write(("POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
                                        + "Content-Length: " + announced + "\r\nExpect: 100-continue\r\n\r\n")
                                .getBytes(StandardCharsets.ISO_8859_1));
                // The server says so once it waits for the body.
                assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.ISO_8859_1))
                        .isEqualTo("HTTP/1.1 100");
                socket.getOutputStream().write('x');
            }
            assertThat(ask(served, 1).get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    @Test
    void closeAbortsRequestsAfterTheGracePeriod() throws Exception {
        Gate gate = new Gate();
        Limits.Load load = new Limits.Load(12, 8, Duration.ofSeconds(30), Duration.ofMillis(100));
        Served served = start(gate, load);
        var _ = ask(served, 1);
        awaitWaiting(served, 1);
        CompletableFuture.runAsync(served.server()::close).get(20, TimeUnit.SECONDS);
        gate.open.countDown();
        served.client().shutdownNow();
    }

    @Test
    void healthReportsADeadComputingThread() throws Exception {
        Set<Thread> others = computing();
        try (Served served = start(new Gate(), load(12, Duration.ofSeconds(30)))) {
            assertThat(served.get("/health").statusCode()).isEqualTo(200);
            Set<Thread> own = computing();
            own.removeAll(others);
            assertThat(own).hasSize(1);
            for (Thread thread : own) {
                thread.interrupt();
                assertThat(thread.join(Duration.ofSeconds(20))).isTrue();
            }
            ServerTest.assertError(served.get("/health"), 503, "broken");
        }
    }

    private static Set<Thread> computing() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("gramian-compute"))
                .collect(Collectors.toSet());
    }

    @Test
    void reloadsUnderLoadAndKeepsTheModel() throws Exception {
        Path file = TinyModel.write(folder.resolve("model.safetensors"), "center:32");
        ConcurrentLinkedQueue<String> said = new ConcurrentLinkedQueue<>();
        Server server =
                Server.start(ServeOptions.local(0), Served.source(file), new Server.Listener(said::add, _ -> {}));
        try (Served served = new Served(server, java.net.http.HttpClient.newHttpClient())) {
            AtomicBoolean over = new AtomicBoolean();
            AtomicInteger answers = new AtomicInteger();
            List<CompletableFuture<Void>> clients = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                clients.add(CompletableFuture.runAsync(
                        () -> {
                            while (!over.get()) {
                                assertThat(ask(served, answers.incrementAndGet())
                                                .join()
                                                .statusCode())
                                        .isEqualTo(200);
                            }
                        },
                        task -> Thread.ofVirtual().start(task)));
            }
            // Other crops make it another model that answers differently.
            Path other = TinyModel.write(folder.resolve("other.safetensors"), "resize:40");
            Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
            awaitSaid(said, 1);
            Files.write(file, new byte[] {1, 2, 3});
            awaitSaid(said, 2);
            TinyModel.write(file, "center:32");
            awaitSaid(said, 3);
            Served.await(() -> answers.get() > 20);
            over.set(true);
            for (CompletableFuture<Void> client : clients) {
                client.get(20, TimeUnit.SECONDS);
            }
        }
    }

    private static void awaitSaid(Collection<String> said, int lines) throws Exception {
        Served.await(() -> said.size() >= lines);
    }
}
