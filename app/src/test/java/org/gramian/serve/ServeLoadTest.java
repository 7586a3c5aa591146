package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.Engine;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;

/**
 * 32 clients with real images against GoogLeNet and the SPD pooling: how much of the engine's own rate is left, in turns with that.
 *
 * <p>A measurement, which needs a machine that does nothing else: it runs under {@code gramian.full} only, for {@code
 * gramian.load.seconds} (60), and leaves its figures in {@code target/full-results}.
 */
class ServeLoadTest {
    private static final Path SHARED = Path.of("..", "..", "shared");
    private static final int CLIENTS = 32;
    private static final int BATCH = 16;
    private static final int ROUNDS = 6;
    private static final double SECONDS = Integer.getInteger("gramian.load.seconds", 60);
    private static final double LEAST = 0.9;

    /** What the clients saw. */
    private record Seen(Map<Integer, AtomicInteger> statuses, ConcurrentLinkedQueue<Double> millis) {
        double millis(double part) {
            double[] sorted =
                    millis.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            return sorted[(int) Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
        }
    }

    @Test
    void throughputIsAtLeastNineTenthsOfTheEngine() throws Exception {
        assumeTrue(Boolean.getBoolean("gramian.full"), "a measurement: under gramian.full");
        Path weights = SHARED.resolve("weights/googlenet-bvlc.safetensors");
        assumeTrue(Files.exists(weights), "needs ../shared/weights");
        List<byte[]> images = images();
        LoadedModel model = model(weights);
        Seen seen = new Seen(new ConcurrentHashMap<>(), new ConcurrentLinkedQueue<>());
        List<Double> engine = new ArrayList<>();
        double served = 0;
        try (Served server = Served.start(model, ServeOptions.local(0));
                Arena arena = Arena.ofConfined()) {
            MemorySegment crops = crops(model, images, arena);
            clients(server, images, 5, new Seen(new ConcurrentHashMap<>(), new ConcurrentLinkedQueue<>()));
            engineRate(model, crops, 3);
            List<String> memory = new ArrayList<>(List.of(memory()));
            for (int i = 0; i < ROUNDS; i++) {
                engine.add(engineRate(model, crops, Math.max(2, SECONDS / ROUNDS / 2)));
                served += clients(server, images, SECONDS / ROUNDS, seen) / ROUNDS;
                memory.add(memory());
            }
            double own =
                    engine.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
            report(String.format(
                    Locale.ROOT,
                    "serve, GoogLeNet + spd:128, %d clients for %.0f s: %.2f images/s, the engine alone %.2f (%.3f of it); p50"
                            + " %.0f ms, p99 %.0f ms; statuses %s; resident memory and Java's heap at the start and after each round, MB: %s",
                    CLIENTS,
                    SECONDS,
                    served,
                    own,
                    served / own,
                    seen.millis(0.5),
                    seen.millis(0.99),
                    new TreeMap<>(seen.statuses()),
                    String.join(", ", memory)));
            assertThat(seen.statuses().keySet()).isSubsetOf(200, 429);
            assertThat(served / own).isGreaterThan(LEAST);
        }
    }

    private static List<byte[]> images() throws IOException {
        try (Stream<Path> all = Files.walk(SHARED.resolve("data/fmd"))) {
            List<Path> files = all.filter(file -> file.toString().endsWith(".jpg"))
                    .sorted()
                    .toList();
            assumeTrue(!files.isEmpty(), "needs ../shared/data/fmd");
            List<byte[]> contents = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                contents.add(Files.readAllBytes(files.get(i * files.size() / 200)));
            }
            return contents;
        }
    }

    private static LoadedModel model(Path weights) throws IOException {
        Backbone backbone = Backbone.of("googlenet");
        SplittableRandom random = new SplittableRandom(1);
        List<String> classes = Stream.iterate(0, i -> i < 10, i -> i + 1)
                .map(i -> "class " + i)
                .toList();
        try (Arena arena = Arena.ofConfined()) {
            Weights read = Weights.read("googlenet", weights, arena, _ -> {});
            ParameterSet parameters = read.load(backbone, DType.F32, Device.CPU);
            Head head = new Head(Pooling.parse("conv:512/rbf/spd:128/relu/triu/root/l2"), classes.size(), false);
            ModelCard card = new ModelCard(
                    classes,
                    read.preprocessing(),
                    CropPlan.parse("center:224"),
                    1,
                    new LinkedHashMap<>(),
                    new LinkedHashMap<>());
            return LoadedModel.of(
                    "load", new ModelFile.Stored(Model.begin(backbone, parameters, head, random, Device.CPU), card));
        }
    }

    private static MemorySegment crops(LoadedModel model, List<byte[]> images, Arena arena) {
        ModelCard card = model.header().card();
        Rendering rendering = new Rendering(
                file -> {
                    throw new AssertionError(file);
                },
                card.crops().testing(),
                card.preprocessing());
        MemorySegment memory = arena.allocate(BATCH * rendering.bytes(), 64);
        for (int i = 0; i < BATCH; i++) {
            ReadResult reading = new ImageReader(ImageLimits.DEFAULT).read(images.get(i));
            rendering.write(
                    ((ReadResult.Readable) reading).image(),
                    "",
                    memory.asSlice(i * rendering.bytes(), rendering.bytes()));
        }
        return memory;
    }

    /** Images per second that the engine computes in batches of crops that are ready. */
    private static double engineRate(LoadedModel model, MemorySegment crops, double seconds) {
        long start = System.nanoTime();
        int count = 0;
        while (System.nanoTime() - start < seconds * 1e9) {
            model.classifier().engine().compute(crops, Shape.of(BATCH, 3, 224, 224), Engine.Rows.SCORES);
            count += BATCH;
        }
        return count / ((System.nanoTime() - start) / 1e9);
    }

    /** Images per second that clients get answers for, each asking again as soon as it has one. */
    private static double clients(Served server, List<byte[]> images, double seconds, Seen seen) {
        AtomicInteger next = new AtomicInteger();
        AtomicInteger answered = new AtomicInteger();
        long start = System.nanoTime();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < CLIENTS; i++) {
                var _ = clients.submit(() -> {
                    while (System.nanoTime() - start < seconds * 1e9) {
                        long begun = System.nanoTime();
                        int status = ask(server, images.get(next.getAndIncrement() % images.size()));
                        seen.statuses()
                                .computeIfAbsent(status, _ -> new AtomicInteger())
                                .incrementAndGet();
                        seen.millis().add((System.nanoTime() - begun) / 1e6);
                        answered.addAndGet(status == 200 ? 1 : 0);
                    }
                    return null;
                });
            }
        }
        return answered.get() / ((System.nanoTime() - start) / 1e9);
    }

    /** The status; 0 where there was no answer at all. */
    private static int ask(Served server, byte[] image) throws InterruptedException {
        try {
            return server.client()
                    .send(
                            server.to("/v1/predict")
                                    .header("Content-Type", "image/jpeg")
                                    .POST(HttpRequest.BodyPublishers.ofByteArray(image))
                                    .build(),
                            HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        } catch (IOException _) {
            return 0;
        }
    }

    private static String memory() throws IOException {
        Path statm = Path.of("/proc/self/statm");
        System.gc();
        Runtime java = Runtime.getRuntime();
        String resident = Files.exists(statm)
                ? Long.toString(Long.parseLong(Files.readString(statm).split(" ", -1)[1]) * 4096 / 1_000_000)
                : "unknown";
        return resident + "/" + (java.totalMemory() - java.freeMemory()) / 1_000_000;
    }

    private static void report(String line) throws IOException {
        Path file = Path.of("target", "full-results", ServeLoadTest.class.getSimpleName() + ".md");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "- " + line + "\n");
    }
}
