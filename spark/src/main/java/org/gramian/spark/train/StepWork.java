package org.gramian.spark.train;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.gramian.tensor.Scope;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.loop.StepPart;
import org.gramian.train.loop.Targets;
import org.gramian.train.recipe.LossRecipe;

/**
 * A group's part of a step: all its crops of the step are computed together, whichever of its shards they lie in.
 *
 * @param smoothing of labels
 * @param weights of classes
 * @param counts training images of each class
 * @param batch crops that are computed at once
 */
@SuppressWarnings("ArrayRecordComponent") // handed on and never compared
record StepWork(double smoothing, LossRecipe.ClassWeights weights, long[] counts, int batch)
        implements HeadTask.Work<StepPart> {
    @Override
    public StepPart on(HeadTask.Sight sight) {
        Targets targets = Targets.of(new LossRecipe(smoothing, weights), counts);
        List<FeatureShard.Crop> crops = wanted(sight);
        List<StepPart> parts = new ArrayList<>();
        for (int start = 0; start < crops.size(); start += batch) {
            try (Scope _ = Scope.open()) { // nothing of a batch is held while the next one is computed
                List<FeatureShard.Crop> some = crops.subList(start, Math.min(crops.size(), start + batch));
                Minibatch minibatch = new Minibatch(
                        FeatureShard.tensor(some, sight.form(), sight.model().device()),
                        some.stream().mapToInt(FeatureShard.Crop::label).toArray());
                int[] places = some.stream().mapToInt(FeatureShard.Crop::place).toArray();
                parts.add(StepPart.of(
                        sight.model(), minibatch, targets, sight.order().step(), places));
            }
        }
        return parts.size() == 1 ? parts.getFirst() : StepPart.sum(parts);
    }

    /** Those crops of the group that are wanted, in the order of the step, so that they are computed together. */
    private static List<FeatureShard.Crop> wanted(HeadTask.Sight sight) {
        int[] places = sight.order().places();
        Map<Integer, FeatureShard.Crop> here = new HashMap<>();
        sight.shards()
                .forEachRemaining(
                        shard -> shard.pick(places, sight.form()).forEach(crop -> here.put(crop.place(), crop)));
        List<FeatureShard.Crop> wanted = new ArrayList<>();
        for (int place : places) {
            FeatureShard.Crop crop = here.get(place);
            if (crop != null) {
                wanted.add(crop);
            }
        }
        return wanted;
    }

    @Override
    public Class<StepPart> result() {
        return StepPart.class;
    }
}
