package org.gramian.train.loop;

import org.gramian.tensor.Tensor;

/** Where recorded steps have their examples from. */
interface BatchSource extends AutoCloseable {
    /** Steps that are taken before anybody looks at what became of them: few enough for progress and Ctrl-C. */
    int stepsAtOnce();

    /**
     * Turns to a place of an epoch's order, from which on batches are taken.
     *
     * @param epoch unique number of stage and epoch
     */
    void turnTo(int[] order, int next, long epoch);

    /** Nothing more is taken until it turns somewhere again. */
    void rest();

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
    default void close() {
        rest();
    }
}
