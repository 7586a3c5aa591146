package org.gramian.train.loop;

import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.IntFunction;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.BatchLoader.Batch;
import org.gramian.image.batch.BatchLoader.BatchSlot;
import org.gramian.image.batch.BatchLoader.LoadRequest;
import org.gramian.image.batch.BatchLoader.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.dataset.Sample;
import org.gramian.model.UnreadableImageException;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.train.recipe.Recipe;
import org.jspecify.annotations.Nullable;

/** Training images that host threads render ahead in batches; frees decoded images when closed. */
interface LoadedExamples extends Examples, AutoCloseable {
    /** Opens the training images: decoded once if the recipe augments them, else in every epoch. */
    static LoadedExamples open(TrainingData data, Recipe recipe, TrainingContext context) {
        List<Sample> training = data.parts().training();
        Rendering rendering = data.rendering(data.trainingCrops());
        return recipe.augmenting().policy().isNone()
                ? new ImageExamples(training, rendering, context.threads(), context.device())
                : StoredExamples.open(training, rendering, recipe, context);
    }

    /** Returns the exception for an image that was readable when the run was planned and no longer is. */
    static UncheckedIOException missing(Sample sample, Unreadable problem) {
        String reason = "it was readable before and no longer is: " + problem.reason();
        return new UncheckedIOException(
                new UnreadableImageException(sample.file(), new Unreadable(problem.problem(), reason)));
    }

    @Override
    default void close() {}

    int size();

    Device device();

    /** Goes through examples as {@link #pass} does, with batches in host memory. */
    LoadedPass loaded(int[] order, int batch, long epoch);

    @Override
    default Pass pass(int[] order, int batch, long epoch) {
        return loaded(order, batch, epoch);
    }

    /** Crops of training images, decoded ahead while the model computes. */
    record ImageExamples(List<Sample> samples, Rendering rendering, int threads, Device device)
            implements LoadedExamples {
        private static final int AHEAD = 4;

        @Override
        public int count() {
            return Math.multiplyExact(samples.size(), rendering.crops().count());
        }

        @Override
        public int label(int index) {
            return samples.get(index / rendering.crops().count()).label();
        }

        @Override
        public int size() {
            return rendering.crops().size();
        }

        @Override
        public LoadedPass loaded(int[] order, int batch, long epoch) {
            int crops = rendering.crops().count();
            IntFunction<Sample> image = index -> samples.get(order[index] / crops);
            BatchLoader loader = new BatchLoader(
                    rendering,
                    order.length,
                    index -> new LoadRequest(image.apply(index), List.of(order[index] % crops)),
                    new Prefetch(batch, threads, AHEAD));
            return new LoadedPass(loader, image, device);
        }
    }

    /** A pass over images that a {@link BatchLoader} renders ahead; holds one batch until the next one. */
    final class LoadedPass implements Examples.Pass {
        private final BatchLoader loader;
        private final IntFunction<Sample> samples;
        private final Device device;
        private @Nullable Batch held;

        LoadedPass(BatchLoader loader, IntFunction<Sample> samples, Device device) {
            this.loader = loader;
            this.samples = samples;
            this.device = device;
        }

        @Override
        public boolean hasNext() {
            return loader.hasNext();
        }

        @Override
        public Examples.Minibatch next() {
            Batch batch = take();
            List<BatchSlot> slots = batch.slots();
            Tensor used = batch.tensor().slice(0, 0, slots.size());
            int[] labels = slots.stream()
                    .mapToInt(slot -> samples.apply(slot.request()).label())
                    .toArray();
            return new Examples.Minibatch(used.to(device), labels);
        }

        /** Returns the next batch in host memory, valid until the following call. */
        Batch take() {
            release();
            Batch batch = loader.next();
            held = batch;
            batch.slots()
                    .forEach(slot -> slot.problem().ifPresent(problem -> {
                        throw missing(samples.apply(slot.request()), problem);
                    }));
            return batch;
        }

        private void release() {
            if (held != null) {
                held.close();
                held = null;
            }
        }

        @Override
        public void close() {
            release();
            loader.close();
        }
    }
}
