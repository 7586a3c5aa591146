package org.gramian.train.loop;

import java.util.Arrays;
import java.util.function.Function;
import org.gramian.tensor.Tensor;
import org.gramian.train.feature.FeatureTable;

/** Labelled training crops, numbered from 0, for passes in any order. */
public interface Examples {
    /**
     * A batch.
     *
     * @param input features or images {@code [n, c, h, w]} on the model's device, in the scope of the call
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
    record Minibatch(Tensor input, int[] labels) {}

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
                    int[] indices = Arrays.copyOfRange(order, next, Math.min(order.length, next + batch));
                    next += indices.length;
                    return load.apply(indices);
                }

                @Override
                public void close() {}
            };
        }
    }

    int count();

    int label(int index);

    /** Starts a pass over examples in the given order. */
    Pass pass(int[] order, int batch, long epoch);

    record Features(FeatureTable table) implements Examples {
        @Override
        public int count() {
            return table.count();
        }

        @Override
        public int label(int index) {
            return table.samples().get(index / table.crops()).label();
        }

        @Override
        public Pass pass(int[] order, int batch, long epoch) {
            return Pass.over(
                    order,
                    batch,
                    indices -> new Minibatch(
                            table.rows(indices),
                            Arrays.stream(indices).map(this::label).toArray()));
        }
    }
}
