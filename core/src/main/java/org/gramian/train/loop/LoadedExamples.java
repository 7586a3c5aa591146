package org.gramian.train.loop;

import org.gramian.tensor.Device;

/** Images to train on that the host renders ahead, batch by batch. */
interface LoadedExamples extends Examples {
    /** Columns and rows of a crop. */
    int size();

    /** Where batches are used. */
    Device device();

    /** As {@link #pass}, by batches in the host's memory. */
    LoadedPass loaded(int[] order, int batch, long epoch);

    @Override
    default Pass pass(int[] order, int batch, long epoch) {
        return loaded(order, batch, epoch);
    }
}
