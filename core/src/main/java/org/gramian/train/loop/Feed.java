package org.gramian.train.loop;

import org.gramian.tensor.Tensor;

/** Where recorded steps have their examples from. */
interface Feed extends AutoCloseable {
    /** Steps between two looks at what became of them: soon enough for progress and Ctrl-C. */
    int most();

    /** Turns to a place of an epoch's order, from which on batches of one size are taken until it turns elsewhere. */
    void turnTo(int[] order, int next);

    /** Where batches of one size arrive. */
    Entrance entrance(int batch);

    /** Where the batches of one size arrive. */
    interface Entrance extends AutoCloseable {
        /** Before each step, on the host: the next batch is on its way. */
        void bring();

        /**
         * In each step, part of what is recorded: the batch.
         *
         * @param places its examples, I64, on the GPU
         */
        Tensor input(Tensor places);

        @Override
        void close();
    }

    @Override
    void close();
}
