package org.gramian.image.batch;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.gramian.image.Image;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.batch.BatchLoader.Batch;
import org.gramian.image.batch.BatchLoader.BatchSlot;
import org.gramian.image.batch.BatchLoader.LoadRequest;
import org.gramian.image.batch.BatchLoader.Prefetch;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.dataset.Sample;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BatchLoaderTest {
    private static final Crops CROPS = CropPlan.parse("paper:7").training(1);

    private static Rendering rendering(Function<Path, ReadResult> reader) {
        return new Rendering(reader, CROPS, Preprocessing.TORCHVISION);
    }

    /** What a loader gave: slots and bytes of every batch. */
    private record Given(List<List<BatchSlot>> slots, List<byte[]> bytes) {
        static Given by(Rendering rendering, List<LoadRequest> list, Prefetch prefetch) {
            Given given = new Given(new ArrayList<>(), new ArrayList<>());
            try (BatchLoader loader = new BatchLoader(rendering, list, prefetch)) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        given.slots.add(batch.slots());
                        given.bytes.add(batch.memory().toArray(JAVA_BYTE));
                    }
                }
            }
            return given;
        }
    }

    /** Reads in a time of its own for each image, so that threads overtake each other. */
    private static ReadResult dawdling(Path file) {
        LockSupport.parkNanos(new SplittableRandom(file.hashCode()).nextInt(300_000));
        return Images.read(file);
    }

    private static List<Long> loaderThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("gramian-images"))
                .map(Thread::threadId)
                .toList();
    }

    @RandomTest(times = 6)
    void batchesDoNotDependOnThreads(Seed seed) {
        SplittableRandom random = seed.random();
        List<LoadRequest> list = Images.samples(random.nextInt(1, 60)).stream()
                .map(sample -> new LoadRequest(
                        sample,
                        IntStream.range(0, random.nextInt(1, 16)).boxed().toList()))
                .toList();
        int batch = random.nextInt(1, 20);
        Given alone = Given.by(rendering(Images::read), list, new Prefetch(batch, 1, 1));
        for (int threads : new int[] {1, 2, 7}) {
            Given found = Given.by(
                    rendering(BatchLoaderTest::dawdling), list, new Prefetch(batch, threads, random.nextInt(1, 5)));
            assertThat(found.slots()).isEqualTo(alone.slots());
            assertThat(found.bytes()).usingElementComparator(Arrays::compare).isEqualTo(alone.bytes());
        }
    }

    @Test
    void cropsComeInOrderOfList() {
        List<Sample> samples = Images.samples(20);
        List<LoadRequest> list = LoadRequest.all(samples, CROPS);
        Given given = Given.by(rendering(Images::read), list, new Prefetch(16, 2, 2));
        List<BatchSlot> slots = given.slots().stream().flatMap(List::stream).toList();
        assertThat(slots).hasSize(20 * 15);
        for (int i = 0; i < slots.size(); i++) {
            assertThat(slots.get(i).request()).isEqualTo(i / 15);
            assertThat(slots.get(i).crop()).isEqualTo(i % 15);
            byte[] batch = given.bytes().get(i / 16);
            int bytes = batch.length / 16;
            byte[] found = Arrays.copyOfRange(batch, i % 16 * bytes, (i % 16 + 1) * bytes);
            assertThat(found).isEqualTo(expected(samples.get(i / 15), i % 15));
        }
    }

    private static byte[] expected(Sample sample, int crop) {
        MemorySegment numbers = MemorySegment.ofArray(new float[3 * 7 * 7]);
        if (Images.read(sample.file()) instanceof Readable(Image image, var _)) {
            Preprocessing.TORCHVISION.write(
                    image,
                    CROPS.of(image.width(), image.height(), sample.name()).get(crop),
                    numbers);
        }
        return numbers.toArray(JAVA_BYTE);
    }

    @Test
    void unreadableImageKeepsSlotWithReason() {
        List<LoadRequest> list = LoadRequest.all(Images.samples(5), CROPS);
        Given given = Given.by(rendering(Images::read), list, new Prefetch(15, 2, 2));
        for (int image = 0; image < 5; image++) {
            Optional<String> reason = image == 3 ? Optional.of("bad3 is made up to be bad") : Optional.empty();
            assertThat(given.slots().get(image))
                    .allSatisfy(slot -> assertThat(slot.problem().map(ReadResult.Unreadable::reason))
                            .isEqualTo(reason));
        }
        assertThat(given.bytes().get(3)).containsOnly(0);
    }

    @Test
    void rejectsBatchesTooLargeForMemory() {
        Crops large = CropPlan.parse("resize:4096").testing();
        Rendering rendering = new Rendering(Images::read, large, Preprocessing.TORCHVISION);
        List<LoadRequest> list = LoadRequest.all(Images.samples(1), large);
        assertRejected(
                IllegalArgumentException.class,
                () -> new BatchLoader(rendering, list, new Prefetch(1 << 20, 1, 1)),
                "1",
                "201326592 MiB");
    }

    @Test
    void padsLastBatchWithZeros() {
        List<LoadRequest> list = LoadRequest.all(Images.samples(2), CROPS);
        Given given = Given.by(rendering(Images::read), list, new Prefetch(28, 2, 1));
        assertThat(given.slots().get(1)).hasSize(2);
        byte[] last = given.bytes().get(1);
        assertThat(Arrays.copyOfRange(last, last.length / 28 * 2, last.length)).containsOnly(0);
    }

    @Test
    void readsNoFurtherThanPrefetchedBatches() {
        Prefetch prefetch = new Prefetch(64, 4, 3);
        AtomicLong read = new AtomicLong();
        AtomicLong used = new AtomicLong();
        AtomicLong lead = new AtomicLong();
        Function<Path, ReadResult> reader = file -> {
            lead.accumulateAndGet(read.incrementAndGet() * CROPS.count() - used.get(), Math::max);
            return Images.read(file);
        };
        try (BatchLoader loader =
                new BatchLoader(rendering(reader), LoadRequest.all(Images.samples(2_000), CROPS), prefetch)) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    used.addAndGet(batch.slots().size());
                }
            }
        }
        assertThat(used.get()).isEqualTo(2_000L * CROPS.count());
        // Crops in batches ahead, two images of each thread, and the batch whose use is not counted yet.
        assertThat(lead.get()).isBetween(1L, 4L * prefetch.batch() + 2L * prefetch.threads() * CROPS.count());
    }

    @Test
    void failureOfThreadReachesConsumer() {
        Function<Path, ReadResult> failing = file -> {
            if (file.toString().equals("good7")) {
                throw new UnsupportedOperationException("a fault of ours");
            }
            return Images.read(file);
        };
        for (int threads : new int[] {1, 4}) {
            assertThatThrownBy(() -> Given.by(
                            rendering(failing),
                            LoadRequest.all(Images.samples(500), CROPS),
                            new Prefetch(8, threads, 2)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("a fault of ours")
                    .hasCauseInstanceOf(UnsupportedOperationException.class);
        }
        assertThat(loaderThreads()).isEmpty();
    }

    @Test
    void closeInterruptsWaitingReader() throws InterruptedException {
        CountDownLatch reading = new CountDownLatch(1);
        Function<Path, ReadResult> stuck = file -> {
            reading.countDown();
            LockSupport.parkNanos(50_000_000_000L); // an interrupt ends it
            return Images.read(file);
        };
        try (BatchLoader _ = new BatchLoader(
                rendering(stuck), LoadRequest.all(Images.samples(1000), CROPS), new Prefetch(8, 5, 3))) {
            reading.await();
        }
        assertThat(loaderThreads()).isEmpty();
    }

    @Test
    void closeMayBeRepeated() {
        BatchLoader loader = new BatchLoader(
                rendering(Images::read), LoadRequest.all(Images.samples(5), CROPS), new Prefetch(8, 2, 2));
        Batch batch = loader.next();
        batch.close();
        assertRejected(IllegalStateException.class, batch::memory);
        loader.close();
        loader.close();
        assertRejected(IllegalStateException.class, loader::next);
    }

    @Test
    void rejectsNextWhileAllBatchesAreInUse() {
        try (BatchLoader loader = new BatchLoader(
                rendering(Images::read), LoadRequest.all(Images.samples(50), CROPS), new Prefetch(8, 2, 2))) {
            loader.next();
            loader.next();
            assertRejected(IllegalStateException.class, loader::next, "2");
        }
    }

    private static List<Integer> epoch(long seed, long epoch) {
        return Arrays.stream(BatchLoader.shuffled(50, seed, epoch)).boxed().toList();
    }

    @RandomTest
    void orderIsPermutationOfSeedAndEpoch(Seed seed) {
        List<Integer> ordered = new ArrayList<>(IntStream.range(0, 50).boxed().toList());
        List<Integer> order = epoch(seed.value(), 4);
        assertThat(order).containsExactlyInAnyOrderElementsOf(ordered).isEqualTo(epoch(seed.value(), 4));
        Set<List<Integer>> others = new HashSet<>();
        for (long near = -3; near <= 3; near++) {
            others.add(epoch(seed.value() + near, 4));
            others.add(epoch(seed.value(), 4 + near));
        }
        assertThat(others).hasSize(13);
        long key = new SplittableRandom(seed.value()).nextLong() ^ new SplittableRandom(~4L).nextLong();
        Collections.shuffle(ordered, new SplittableRandom(key));
        assertThat(order).isEqualTo(ordered);
    }
}
