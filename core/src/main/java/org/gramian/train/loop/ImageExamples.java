package org.gramian.train.loop;

import java.util.AbstractList;
import java.util.List;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.batch.Work;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.Device;

/**
 * Crops of training images, decoded ahead while the model computes.
 *
 * @param samples the images
 * @param rendering from files to crops
 * @param threads decode; their number does not change the batches
 * @param device of the batches
 */
record ImageExamples(List<Sample> samples, Rendering rendering, int threads, Device device) implements LoadedExamples {
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
    public int size() {
        return rendering.crops().size();
    }

    @Override
    public LoadedPass loaded(int[] order, int batch, long epoch) {
        List<Work> list = new EpochCrops(order, samples, rendering.crops().count());
        BatchLoader loader = new BatchLoader(rendering, list, new Prefetch(batch, threads, AHEAD));
        return new LoadedPass(loader, index -> list.get(index).sample(), device);
    }

    /** The crops of an epoch, created on access: an epoch may have millions. */
    private static final class EpochCrops extends AbstractList<Work> {
        private final int[] order;
        private final List<Sample> samples;
        private final int crops;

        EpochCrops(int[] order, List<Sample> samples, int crops) {
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
}
