package org.gramian.train.loop;

import java.util.Arrays;
import java.util.function.Function;
import org.gramian.tensor.Tensor;

/** Labelled crops to train on, numbered from 0; they can be gone through in any order. */
public interface Examples {
    /**
     * Some of them at once.
     *
     * @param input features or images on the model's device; belongs to the scope it was taken in
     * @param labels of each row
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
    record Minibatch(Tensor input, int[] labels) {}

    /** One way through; frees what it holds when closed. */
    interface Pass extends AutoCloseable {
        boolean hasNext();

        /** The next batch; the last one may be smaller. It may be used until the next is asked for. */
        Minibatch next();

        @Override
        void close();

        /** Through places in memory, which need nothing freed: {@code batch} of them at a time are handed to {@code load}. */
        static Pass over(int[] order, int batch, Function<int[], Minibatch> load) {
            return new Pass() {
                private int next;

                @Override
                public boolean hasNext() {
                    return next < order.length;
                }

                @Override
                public Minibatch next() {
                    int[] places = Arrays.copyOfRange(order, next, Math.min(order.length, next + batch));
                    next += places.length;
                    return load.apply(places);
                }

                @Override
                public void close() {}
            };
        }
    }

    /** How many there are. */
    int count();

    /** The class of one of them. */
    int label(int place);

    /**
     * Goes through some of them in the given order.
     *
     * @param epoch unique number of stage and epoch, which augmentation follows from
     */
    Pass pass(int[] order, int batch, long epoch);
}
