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
                int[] labels = Arrays.stream(places)
                        .map(place -> table.samples().get(place / table.crops()).label())
                        .toArray();
                return new Minibatch(table.rows(places), labels);
            }

            @Override
            public void close() {}
        };
    }
}
