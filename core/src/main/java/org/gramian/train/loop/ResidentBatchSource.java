package org.gramian.train.loop;

import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;
import org.gramian.tensor.Tensor;
import org.gramian.train.feature.FeatureTable;

/**
 * Examples that lie in the memory of the GPU: features, or decoded images that are rendered there. Taking a batch is part of the
 * CUDA graph of a step.
 *
 * @param stepsAtOnce steps between two looks of the host
 * @param epochs called with the number of each epoch before its first batch
 * @param rows gives the batch at some places, I64 on the GPU
 */
record ResidentBatchSource(int stepsAtOnce, LongConsumer epochs, UnaryOperator<Tensor> rows) implements BatchSource {
    /** Feeds features of the frozen backbone; 32 steps take about 30 ms. */
    static ResidentBatchSource of(FeatureTable table) {
        return new ResidentBatchSource(32, _ -> {}, table::rows);
    }

    /** Feeds augmented images, which get new parameters in every epoch. */
    static ResidentBatchSource of(StoredExamples images) {
        return new ResidentBatchSource(8, images::turnTo, images::render);
    }

    @Override
    public void turnTo(int[] order, int next, long epoch) {
        epochs.accept(epoch);
    }

    @Override
    public void rest() {}

    @Override
    public Entrance entrance(int batch) {
        return new Entrance() {
            @Override
            public void bring() {}

            @Override
            public Tensor input(Tensor places) {
                return rows.apply(places);
            }

            @Override
            public void close() {}
        };
    }
}
