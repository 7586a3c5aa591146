package org.gramian.spark.train;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.tensor.Scope;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.loop.StepPart;
import org.gramian.train.loop.Targets;
import org.gramian.train.recipe.LossRecipe;

/**
 * A shard's part of a step.
 *
 * @param smoothing of labels
 * @param weights of classes
 * @param counts training pictures of each class
 * @param batch crops that are computed at once
 */
@SuppressWarnings("ArrayRecordComponent") // handed on and never compared
record StepWork(double smoothing, LossRecipe.ClassWeights weights, long[] counts, int batch)
        implements HeadTask.Work<StepPart> {
    @Override
    public StepPart on(HeadTask.Sight sight) {
        Targets targets = Targets.of(new LossRecipe(smoothing, weights), counts);
        int[] rows = sight.order().rowsOf(sight.shard());
        List<StepPart> parts = new ArrayList<>();
        for (int start = 0; start < rows.length; start += batch) {
            try (Scope _ = Scope.open()) { // nothing of a batch is held while the next one is computed
                int[] some = Arrays.copyOfRange(rows, start, Math.min(rows.length, start + batch));
                Minibatch minibatch = new Minibatch(
                        sight.shard().features(some, sight.form(), sight.model().device()),
                        sight.shard().labels(some));
                parts.add(StepPart.of(sight.model(), minibatch, targets, sight.order().places().length));
            }
        }
        return parts.size() == 1 ? parts.getFirst() : StepPart.sum(parts);
    }
}
