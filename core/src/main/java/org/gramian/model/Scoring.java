package org.gramian.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.Place;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.batch.Work;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.SingleThreadWorkers;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * Applies a model to files of images, many at a time: decoded ahead by several threads, computed in batches of one fixed
 * size, handed out in order.
 *
 * @param engine what computes
 * @param rendering how files become crops
 * @param prefetch crops at a time, and threads that decode
 */
public record Scoring(Engine engine, Rendering rendering, Prefetch prefetch) {
    /** Crops at a time unless told otherwise. */
    public static final int DEFAULT_BATCH = 16;

    /** For a model with its card: as it was trained to see images. */
    public static Scoring of(Model model, ModelCard card, Function<Path, ReadResult> reader) {
        return of(Engine.of(model), card, reader);
    }

    /** The same with any engine. */
    public static Scoring of(Engine engine, ModelCard card, Function<Path, ReadResult> reader) {
        Rendering rendering = new Rendering(reader, card.crops().testing(), card.preprocessing());
        return new Scoring(engine, rendering, Prefetch.of(DEFAULT_BATCH));
    }

    /** For so many files of whole images, whatever the model was trained on. */
    public static Scoring ofFiles(Engine engine, ModelCard card, int files) {
        Rendering rendering = card.rendering(new ImageReader(ImageLimits.DEFAULT)::read);
        return new Scoring(engine, rendering, Prefetch.of(batch(rendering, files)));
    }

    /** Crops at a time for so many images: a batch is padded, and for a single image a whole one would be mostly wasted. */
    public static int batch(Rendering rendering, int images) {
        return (int) Math.min(DEFAULT_BATCH, (long) rendering.crops().count() * images);
    }

    /**
     * Computes rows of every crop of every image.
     *
     * @param progress told the number of images done so far
     */
    public void run(List<Sample> samples, Engine.Rows wanted, RowSink sink, LongConsumer progress) {
        run(samples, Set.of(wanted), PassSink.of(sink, wanted), progress);
    }

    /** The same for several kinds of rows in one pass. */
    public void run(List<Sample> samples, Set<Engine.Rows> wanted, PassSink sink, LongConsumer progress) {
        int crops = rendering.crops().count();
        ImageRows collected = new ImageRows(crops, sink, progress);
        int workers = workers(samples.size());
        if (workers > 1) {
            runParallel(samples, wanted, collected, workers);
            return;
        }
        try (BatchLoader loader = new BatchLoader(rendering, Work.all(samples, rendering.crops()), prefetch)) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    collect(collected, batch, engine.compute(batch.memory(), batch.shape(), wanted));
                }
            }
        }
    }

    /**
     * Batches computed at once, each on one thread, where there are at least two for each worker; else 1. It follows from
     * the number of images and threads alone: a measured choice would change the last bits from run to run.
     */
    int workers(int images) {
        long batches = Math.ceilDiv((long) images * rendering.crops().count(), (long) prefetch.batch());
        return batches >= 2L * engine.workers() ? engine.workers() : 1;
    }

    private record Pending(Batch batch, Future<Map<Engine.Rows, float[][]>> rows) {}

    private void runParallel(List<Sample> samples, Set<Engine.Rows> wanted, ImageRows collected, int workers) {
        Prefetch wider = new Prefetch(prefetch.batch(), prefetch.threads(), prefetch.ahead() + workers - 1);
        try (BatchLoader loader = new BatchLoader(rendering, Work.all(samples, rendering.crops()), wider);
                SingleThreadWorkers pool = SingleThreadWorkers.open(workers)) {
            Deque<Pending> pending = new ArrayDeque<>();
            while (loader.hasNext() || !pending.isEmpty()) {
                while (loader.hasNext() && pending.size() < workers) {
                    Batch batch = loader.next();
                    pending.addLast(new Pending(
                            batch, pool.submit(() -> engine.compute(batch.memory(), batch.shape(), wanted))));
                }
                Pending first = pending.removeFirst();
                try (Batch batch = first.batch) {
                    collect(collected, batch, SingleThreadWorkers.get(first.rows));
                }
            }
        }
    }

    private static void collect(ImageRows collected, Batch batch, Map<Engine.Rows, float[][]> rows) {
        for (int i = 0; i < batch.places().size(); i++) {
            Place place = batch.places().get(i);
            collected.add(place.work(), rows, i, place.problem());
        }
    }

    /** The mean of rows, summed in double precision, so that the mean of one row is that row. */
    public static float[] mean(float[][] rows) {
        float[] mean = new float[rows[0].length];
        for (int i = 0; i < mean.length; i++) {
            double sum = 0;
            for (float[] row : rows) {
                sum += row[i];
            }
            mean[i] = (float) (sum / rows.length);
        }
        return mean;
    }

    /** The rows of a matrix, in single precision. */
    public static float[][] toRows(Tensor matrix) {
        Tensor host = Views.contiguous(Tensors.to(Tensors.to(matrix, DType.F32), Device.CPU));
        int columns = Math.toIntExact(host.size(1));
        MemorySegment data = host.data();
        float[][] rows = new float[Math.toIntExact(host.size(0))][columns];
        for (int i = 0; i < rows.length; i++) {
            MemorySegment.copy(data, ValueLayout.JAVA_FLOAT, 4L * i * columns, rows[i], 0, columns);
        }
        return rows;
    }
}
