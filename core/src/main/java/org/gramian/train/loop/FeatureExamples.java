package org.gramian.train.loop;

import java.util.Arrays;
import org.gramian.train.feature.FeatureTable;

/**
 * Features of a frozen backbone as training examples.
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
    public Pass pass(int[] order, int batch, long epoch) {
        return Pass.over(
                order,
                batch,
                places -> new Minibatch(
                        table.rows(places),
                        Arrays.stream(places).map(this::label).toArray()));
    }
}
