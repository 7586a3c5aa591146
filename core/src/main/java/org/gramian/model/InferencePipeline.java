package org.gramian.model;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import org.gramian.image.Image;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageSource;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.BatchLoader.Batch;
import org.gramian.image.batch.BatchLoader.BatchSlot;
import org.gramian.image.batch.BatchLoader.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.Crops;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Shape;
import org.gramian.tensor.library.SingleThreadWorkers;
import org.jspecify.annotations.Nullable;

/**
 * The steps from images to rows: decode, crop, preprocess, run the engine, collect the rows of each image.
 *
 * <p>A {@link Classifier} is a pipeline with a card. Training, which has no card before it ends, validates with the
 * pipeline alone.
 */
public final class InferencePipeline {
    /** Default number of crops per batch. */
    public static final int DEFAULT_BATCH = 16;

    /** Alignment of libtorch's own tensors, in bytes. */
    private static final long ALIGNMENT = 64;

    private final Engine engine;
    private final Rendering rendering;
    private final Prefetch prefetch;

    /**
     * Creates a pipeline.
     *
     * @param engine computes rows of crops
     * @param crops crops of an image
     * @param preprocessing preprocessing of the crops
     * @param batch crops per batch
     * @param threads number of decoding threads
     */
    public InferencePipeline(Engine engine, Crops crops, Preprocessing preprocessing, int batch, int threads) {
        this.engine = engine;
        this.rendering = new Rendering(new ImageReader(ImageLimits.DEFAULT)::read, crops, preprocessing);
        this.prefetch = Prefetch.of(batch, threads);
    }

    /**
     * Computes rows of every crop of every image, in batches of one fixed size: decoding threads fill batches ahead of
     * the engine. On a CPU, long lists are computed by several workers of one thread each.
     *
     * @param kinds rows to compute
     * @param listener receives the results in the order of the images
     */
    public void run(List<ImageSource> images, Set<Engine.Rows> kinds, ImageResult.Listener listener) {
        int workers = workers(images.size());
        Prefetch wider = new Prefetch(prefetch.batch(), prefetch.threads(), prefetch.ahead() + workers - 1);
        Collector collector = new Collector(rendering.crops().count(), listener);
        try (BatchLoader loader = new BatchLoader(images, rendering, wider)) {
            if (workers == 1) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        collector.add(batch, compute(batch, kinds));
                    }
                }
            } else {
                runParallel(loader, kinds, collector, workers);
            }
        }
    }

    private record Pending(Batch batch, Future<Map<Engine.Rows, float[][]>> rows) {}

    private void runParallel(BatchLoader loader, Set<Engine.Rows> kinds, Collector collector, int workers) {
        try (SingleThreadWorkers pool = SingleThreadWorkers.open(workers)) {
            Deque<Pending> pending = new ArrayDeque<>();
            while (loader.hasNext() || !pending.isEmpty()) {
                while (loader.hasNext() && pending.size() < workers) {
                    Batch batch = loader.next();
                    pending.addLast(new Pending(batch, pool.submit(() -> compute(batch, kinds))));
                }
                Pending first = pending.removeFirst();
                try (Batch batch = first.batch) {
                    collector.add(batch, SingleThreadWorkers.get(first.rows));
                }
            }
        }
    }

    /** Computes nothing for a batch of unreadable images. */
    private Map<Engine.Rows, float[][]> compute(Batch batch, Set<Engine.Rows> kinds) {
        boolean readable =
                batch.slots().stream().anyMatch(slot -> slot.problem().isEmpty());
        return readable ? engine.compute(batch.memory(), batch.shape(), kinds) : Map.of();
    }

    /**
     * Returns the number of batches that are computed at once, each on one thread: the engine's number if there are at
     * least two batches for each worker, else 1. It depends on the number of images and threads only: a measured choice
     * would change the last bits from run to run.
     */
    int workers(int images) {
        long batches = Math.ceilDiv((long) images * rendering.crops().count(), (long) prefetch.batch());
        return batches >= 2L * engine.workers() ? engine.workers() : 1;
    }

    /**
     * Crops and preprocesses one decoded image.
     *
     * @return {@code [crops, 3, size, size]}
     * @throws IllegalArgumentException if the image is too thin for the crops
     */
    float[] render(Image image) {
        float[] crops =
                new float[Math.toIntExact(rendering.bytes() * rendering.crops().count() / Float.BYTES)];
        // Test crops do not depend on the name: none of them is drawn at random.
        rendering.write(image, "", MemorySegment.ofArray(crops));
        return crops;
    }

    /**
     * Computes rendered images in one batch.
     *
     * @param images results of {@link #render}
     */
    List<ImageResult.Computed> compute(List<float[]> images, Set<Engine.Rows> kinds) {
        int crops = rendering.crops().count();
        int size = rendering.crops().size();
        Map<Engine.Rows, float[][]> rows;
        try (Arena arena = Arena.ofConfined()) {
            long bytes = crops * rendering.bytes();
            MemorySegment memory = arena.allocate(bytes * images.size(), ALIGNMENT);
            for (int i = 0; i < images.size(); i++) {
                float[] image = images.get(i);
                MemorySegment.copy(image, 0, memory, ValueLayout.JAVA_FLOAT, i * bytes, image.length);
            }
            rows = engine.compute(memory, Shape.of((long) crops * images.size(), 3, size, size), kinds);
        }
        List<ImageResult.Computed> results = new ArrayList<>();
        for (int i = 0; i < images.size(); i++) {
            int from = i * crops;
            Map<Engine.Rows, float[][]> own = new EnumMap<>(Engine.Rows.class);
            rows.forEach((kind, all) -> own.put(kind, Arrays.copyOfRange(all, from, from + crops)));
            results.add(new ImageResult.Computed(own, Optional.empty()));
        }
        return results;
    }

    /** Collects rows of crops until an image is complete. */
    private static final class Collector {
        private final int crops;
        private final ImageResult.Listener listener;
        private final Map<Engine.Rows, float[][]> rows = new EnumMap<>(Engine.Rows.class);
        private int filled;
        private ImageResult.@Nullable Failed failed;

        Collector(int crops, ImageResult.Listener listener) {
            this.crops = crops;
            this.listener = listener;
        }

        void add(Batch batch, Map<Engine.Rows, float[][]> computed) {
            for (int i = 0; i < batch.slots().size(); i++) {
                add(batch.slots().get(i), computed, i);
            }
        }

        private void add(BatchSlot slot, Map<Engine.Rows, float[][]> computed, int at) {
            computed.forEach((kind, each) -> rows.computeIfAbsent(kind, _ -> new float[crops][])[filled] = each[at]);
            filled++;
            failed = slot.problem().map(ImageResult.Failed::of).orElse(failed);
            if (filled == crops) {
                ImageResult result = failed == null ? new ImageResult.Computed(rows, Optional.empty()) : failed;
                rows.clear();
                filled = 0;
                failed = null;
                listener.accept(slot.request(), result);
            }
        }
    }
}
