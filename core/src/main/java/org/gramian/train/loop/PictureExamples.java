package org.gramian.train.loop;

import java.util.AbstractList;
import java.util.List;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.Place;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.batch.Work;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/**
 * Crops of pictures to train on, decoded ahead while the model computes.
 *
 * @param samples the pictures
 * @param rendering how files become crops
 * @param threads that decode; plays no part in what comes out
 * @param device where batches are wanted
 */
record PictureExamples(List<Sample> samples, Rendering rendering, int threads, Device device) implements Examples {
    private static final int AHEAD = 4;

    @Override
    public int count() {
        return Math.multiplyExact(samples.size(), rendering.crops().count());
    }

    @Override
    public int label(int place) {
        return samples.get(place / rendering.crops().count()).label();
    }

    @Override
    public Loaded pass(int[] order, int batch) {
        List<Work> list = new Wanted(order, samples, rendering.crops().count());
        return new Loaded(new BatchLoader(rendering, list, new Prefetch(batch, threads, AHEAD)), list, device);
    }

    /** The work of an epoch, made as it is asked for: an epoch may have millions of crops. */
    private static final class Wanted extends AbstractList<Work> {
        private final int[] order;
        private final List<Sample> samples;
        private final int crops;

        Wanted(int[] order, List<Sample> samples, int crops) {
            this.order = order;
            this.samples = samples;
            this.crops = crops;
        }

        @Override
        public Work get(int index) {
            int place = order[index];
            return new Work(samples.get(place / crops), List.of(place % crops));
        }

        @Override
        public int size() {
            return order.length;
        }
    }

    /** Holds one batch at a time, until the next is wanted. */
    static final class Loaded implements Pass {
        private final BatchLoader loader;
        private final List<Work> list;
        private final Device device;
        private @Nullable Batch held;

        Loaded(BatchLoader loader, List<Work> list, Device device) {
            this.loader = loader;
            this.list = list;
            this.device = device;
        }

        @Override
        public boolean hasNext() {
            return loader.hasNext();
        }

        @Override
        public Minibatch next() {
            Batch batch = take();
            List<Place> places = batch.places();
            Tensor used = Views.slice(batch.tensor(), 0, 0, places.size());
            int[] labels = places.stream()
                    .mapToInt(place -> list.get(place.work()).sample().label())
                    .toArray();
            return new Minibatch(Tensors.to(used, device), labels);
        }

        /** The next batch as it lies in the host's memory, until another is wanted. */
        Batch take() {
            release();
            Batch batch = loader.next();
            held = batch;
            batch.places().forEach(this::requireReadable);
            return batch;
        }

        private void requireReadable(Place place) {
            place.problem().ifPresent(problem -> {
                throw LostPicture.of(list.get(place.work()).sample(), problem);
            });
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
