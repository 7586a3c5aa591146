package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.gramian.cli.TinyModel;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.Engine;
import org.gramian.serve.ServeOptions.Limits;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Order of decoding, of batches and of explanations. */
class BatcherTest {
    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration SHORT = Duration.ofSeconds(20);
    private static final Set<Engine.Rows> SCORES = Set.of(Engine.Rows.SCORES);

    @TempDir
    private Path folder;

    private final List<String> order = Collections.synchronizedList(new ArrayList<>());
    private ModelSlot slot;

    @BeforeEach
    void load() throws Exception {
        LoadedModel model = Served.load(TinyModel.write(folder.resolve("model.safetensors"), "center:32"));
        slot = Served.slot(Served.computedBy(model, engine -> (crops, shape, rows) -> {
            order.add("batch");
            return engine.compute(crops, shape, rows);
        }));
    }

    @AfterEach
    void close() {
        slot.close();
    }

    private static void await(CountDownLatch gate) {
        try {
            assertThat(gate.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** Simulates lack of memory while a failure is reported. */
    private static final class FailingFuture extends CompletableFuture<Void> {
        @Override
        public boolean completeExceptionally(Throwable problem) {
            throw new OutOfMemoryError("simulated");
        }
    }

    static Batcher batcher(BiFunction<byte[], BooleanSupplier, ReadResult> reader) {
        Admission admission = new Admission(Limits.DEFAULT);
        return new Batcher(1, 1, reader, admission, new Meters(admission));
    }

    private static Batcher batcher() {
        return batcher((_, _) -> unreadable());
    }

    @Test
    void computingThreadSurvivesFailures() throws Exception {
        Batcher batcher = batcher();
        Deadline end = Deadline.in(SHORT);
        batcher.add(new Batcher.Explanation(
                slot.lease(),
                end,
                () -> {
                    throw new OutOfMemoryError("simulated");
                },
                new FailingFuture()));
        try (ModelSlot.Lease lease = slot.lease()) {
            assertThat(batcher.explain(lease, end, () -> true).get(20, TimeUnit.SECONDS))
                    .isTrue();
        }
        assertThat(batcher.isAlive()).isTrue();
        batcher.close(SHORT);
        assertThat(batcher.isAlive()).isFalse();
    }

    /** Adds work while the computing thread is busy, and records the order in which it is computed. */
    private List<String> computed(Consumer<Batcher> adding) {
        Batcher batcher = batcher();
        CountDownLatch added = new CountDownLatch(1);
        CountDownLatch started = new CountDownLatch(1);
        batcher.add(crops(() -> {
            started.countDown();
            await(added);
        }));
        await(started);
        adding.accept(batcher);
        order.clear();
        added.countDown();
        batcher.close(SHORT);
        return order;
    }

    /** Returns an image whose completion runs a callback on the computing thread. */
    private Batcher.Prepared crops(Runnable callback) {
        CompletableFuture<Batcher.Outcome> result = new CompletableFuture<>();
        var _ = result.thenRun(callback);
        LoadedModel.Crops input = new LoadedModel.Crops(new float[3 * 32 * 32], 1, Optional.empty());
        return new Batcher.Prepared(slot.lease(), SCORES, input, result);
    }

    private void explain(Batcher batcher, Deadline end, String name) {
        try (ModelSlot.Lease lease = slot.lease()) {
            var _ = batcher.explain(lease, end, () -> order.add(name));
        }
    }

    @Test
    void explanationsTakeTurnsWithBatches() {
        Deadline early = Deadline.in(LONG);
        Deadline late = new Deadline(early.nanos() + 1, LONG);
        assertThat(computed(batcher -> {
                    explain(batcher, late, "late 0");
                    explain(batcher, late, "late 1");
                    batcher.add(crops(() -> {}));
                    batcher.add(crops(() -> {}));
                    explain(batcher, early, "early 0");
                    explain(batcher, early, "early 1");
                }))
                .containsExactly("early 0", "batch", "early 1", "batch", "late 0", "late 1");
    }

    @Test
    void urgentExplanationsComeFirst() {
        Deadline near = new Deadline(System.nanoTime() + LONG.toNanos() / 3, LONG);
        assertThat(computed(batcher -> {
                    batcher.add(crops(() -> {}));
                    explain(batcher, near, "urgent 0");
                    explain(batcher, near, "urgent 1");
                }))
                .containsExactly("urgent 0", "urgent 1", "batch");
    }

    /** Submits images named by a letter and their number. */
    private List<CompletableFuture<Batcher.Outcome>> submit(Batcher batcher, char request, int count) throws HttpError {
        try (ModelSlot.Lease lease = slot.lease()) {
            List<byte[]> images = IntStream.range(0, count)
                    .mapToObj(i -> new byte[] {(byte) request, (byte) ('0' + i)})
                    .toList();
            return batcher.submit(new Batcher.Job(lease, SCORES, false, new Admission(Limits.DEFAULT).enter()), images);
        }
    }

    private static ReadResult unreadable() {
        return new Unreadable(Problem.CORRUPT, "simulated");
    }

    private static String name(byte[] content) {
        return "" + (char) content[0] + (char) content[1];
    }

    private void awaitAll(List<CompletableFuture<Batcher.Outcome>> outcomes) throws Exception {
        CompletableFuture.allOf(outcomes.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
    }

    @Test
    void requestsTakeTurnsAtDecoding() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        Batcher batcher = batcher((content, _) -> {
            await(gate);
            order.add(name(content));
            return unreadable();
        });
        List<CompletableFuture<Batcher.Outcome>> outcomes = new ArrayList<>();
        outcomes.addAll(submit(batcher, 'x', 1));
        outcomes.addAll(submit(batcher, 'a', 4));
        outcomes.addAll(submit(batcher, 'b', 1));
        outcomes.addAll(submit(batcher, 'c', 2));
        gate.countDown();
        awaitAll(outcomes);
        assertThat(order).containsExactly("x0", "a0", "b0", "c0", "a1", "c1", "a2", "a3");
        batcher.close(SHORT);
    }

    @Test
    void closeDoesNotWaitForADecoderThatHangs() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        Batcher batcher = batcher((_, _) -> {
            await(never);
            return unreadable();
        });
        var _ = submit(batcher, 'a', 1);
        long start = System.nanoTime();
        batcher.close(Duration.ofMillis(100));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    void decodingStopsWhenItsRequestIsOver() throws Exception {
        CountDownLatch decoding = new CountDownLatch(1);
        Batcher batcher = batcher((content, cancelled) -> {
            order.add(name(content));
            decoding.countDown();
            while (name(content).equals("a0") && !cancelled.getAsBoolean()) {
                Thread.onSpinWait();
            }
            return unreadable();
        });
        CompletableFuture<Batcher.Outcome> endless = submit(batcher, 'a', 1).getFirst();
        await(decoding);
        endless.cancel(false);
        awaitAll(submit(batcher, 'b', 1));
        assertThat(order).containsExactly("a0", "b0");
        batcher.close(SHORT);
    }

    @Test
    void closedBatcherFailsImages() throws Exception {
        CountDownLatch decoding = new CountDownLatch(1);
        Batcher batcher = batcher((_, _) -> {
            decoding.countDown();
            return unreadable();
        });
        batcher.close(SHORT);
        assertThat(submit(batcher, 'a', 2))
                .allSatisfy(outcome -> assertThat(outcome)
                        .isCompletedExceptionally()
                        .failsWithin(Duration.ZERO)
                        .withThrowableThat()
                        .havingCause()
                        .isInstanceOfSatisfying(
                                HttpError.class,
                                error -> assertThat(error.code()).isEqualTo("stopping")));
        assertThat(decoding.getCount()).isOne();
    }
}
