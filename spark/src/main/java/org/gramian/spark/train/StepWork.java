package org.gramian.spark.train;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.gramian.tensor.Scope;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.loop.StepPart;
import org.gramian.train.loop.Targets;
import org.gramian.train.recipe.Recipe;

/**
 * Contribution of a group to a training step: the gradient of its crops, from all its shards.
 *
 * @param smoothing label smoothing
 * @param weights class weights
 * @param counts training images by class
 * @param batch batch size in crops
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record StepWork(double smoothing, Recipe.Loss.ClassWeights weights, long[] counts, int batch)
        implements HeadTask.Work<StepPart> {
    @Override
    public StepPart on(HeadTask.Sight sight) {
        Targets targets = Targets.of(new Recipe.Loss(smoothing, weights), counts);
        List<FeatureShard.Crop> crops = crops(sight);
        List<StepPart> parts = new ArrayList<>();
        for (int start = 0; start < crops.size(); start += batch) {
            try (Scope _ = Scope.open()) { // frees the memory of a batch before the next
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

    /** Returns the crops of the group in the order of the step. */
    private static List<FeatureShard.Crop> crops(HeadTask.Sight sight) {
        int[] places = sight.order().places();
        Map<Integer, FeatureShard.Crop> here = new HashMap<>();
        sight.shards()
                .forEachRemaining(
                        shard -> shard.pick(places, sight.form()).forEach(crop -> here.put(crop.place(), crop)));
        List<FeatureShard.Crop> ordered = new ArrayList<>();
        for (int place : places) {
            FeatureShard.Crop crop = here.get(place);
            if (crop != null) {
                ordered.add(crop);
            }
        }
        return ordered;
    }

    @Override
    public Class<StepPart> result() {
        return StepPart.class;
    }
}
