package org.gramian.train.loop;

import java.util.Arrays;
import java.util.function.Function;
import org.gramian.tensor.Tensor;

/** Labelled training crops, numbered from 0, for passes in any order. */
public interface Examples {
    /**
     * A batch.
     *
     * @param input features or images {@code [n, c, h, w]} on the model's device, in the scope of the call
     * @param labels {@code [n]}
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
    record Minibatch(Tensor input, int[] labels) {}

    /** One pass over examples. */
    interface Pass extends AutoCloseable {
        boolean hasNext();

        /** Returns the next batch, valid until the following call; the last one may be smaller. */
        Minibatch next();

        @Override
        void close();

        /** Returns a pass that loads {@code batch} examples at a time and has nothing to free. */
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

    /** Returns the number of examples. */
    int count();

    /** Returns the class of an example. */
    int label(int place);

    /**
     * Starts a pass over examples in the given order.
     *
     * @param epoch unique number of (stage, epoch), from which augmentation follows
     */
    Pass pass(int[] order, int batch, long epoch);
}
