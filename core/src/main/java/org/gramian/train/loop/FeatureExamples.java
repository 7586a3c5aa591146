package org.gramian.train.loop;

import java.util.Arrays;
import org.gramian.train.feature.FeatureTable;

/**
 * Features of a frozen backbone to train on.
 *
 * @param table of all training crops
 */
record FeatureExamples(FeatureTable table) implements Examples {
    @Override
    public int count() {
        return table.count();
    }

    @Override
    public int label(int place) {
        return table.samples().get(place / table.crops()).label();
    }

    @Override
    public Pass pass(int[] order, int batch) {
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
                return new Minibatch(
                        table.rows(places),
                        Arrays.stream(places).map(FeatureExamples.this::label).toArray());
            }

            @Override
            public void close() {}
        };
    }
}
