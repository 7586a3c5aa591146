package org.gramian.train.loop;

import org.gramian.tensor.Tensor;

/**
 * Augmented images that are rendered from decoded ones in the memory of the GPU: part of the CUDA graph of a step.
 *
 * @param examples resident on the GPU
 */
record StoredFeed(StoredExamples examples) implements Feed {
    @Override
    public int stepsAtOnce() {
        return 8;
    }

    @Override
    public void turnTo(int[] order, int next, long epoch) {
        examples.turnTo(epoch);
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
                return examples.render(places);
            }

            @Override
            public void close() {}
        };
    }
}
