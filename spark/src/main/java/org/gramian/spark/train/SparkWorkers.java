package org.gramian.spark.train;

import java.io.Serializable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.gramian.evaluate.ImagePrediction;
import org.gramian.evaluate.Temperature;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.tensor.Tensor;
import org.gramian.train.loop.DistributedStage;
import org.gramian.train.loop.Dropout;
import org.gramian.train.loop.ImageScores;
import org.gramian.train.loop.StepPart;
import org.gramian.train.recipe.ValidationScore;
import org.jspecify.annotations.Nullable;

/**
 * Data-parallel training of the head on Spark executors. The executors cache the features; in each step the driver
 * broadcasts the parameters of the head and collects partial gradients.
 *
 * <p>A step has one task per group of shards that holds some of its crops. The driver receives at most {@code groups ·
 * parameters · 4} bytes per step, which {@code spark.driver.maxResultSize} must allow. Gradients are summed in float64,
 * in the order of the groups: Spark's {@code treeAggregate} sums in the order in which tasks end, so that results would
 * differ from run to run.
 */
final class SparkWorkers implements DistributedStage.Workers {
    /** Approximate maximum number of images for temperature scaling: the driver collects their scores. */
    private static final int MOST_CALIBRATING = 20_000;

    private final Model model;
    private final Shards training;
    private final @Nullable Shards validation;
    private final HeadTask.GradientWork work;
    private final String device;

    /** @param validation shards of the validation set, or null without one */
    SparkWorkers(Model model, Shards training, @Nullable Shards validation, HeadTask.GradientWork work, String device) {
        this.model = model;
        this.training = training;
        this.validation = validation;
        this.work = work;
        this.device = device;
    }

    @Override
    public int count() {
        return training.count();
    }

    @Override
    public int crops() {
        return training.layout().crops();
    }

    @Override
    public Tensor rows(int[] places) {
        FeatureShard.Layout layout = training.layout();
        Map<Integer, FeatureShard.Crop> found = new HashMap<>();
        training.grouped(training.holding(places))
                .map(shard -> FeatureShard.pack(FeatureShard.open(shard).pick(places, layout), layout))
                .collect()
                .forEach(picked ->
                        FeatureShard.open(picked).pick(places, layout).forEach(crop -> found.put(crop.place(), crop)));
        List<FeatureShard.Crop> ordered = Arrays.stream(places)
                .mapToObj(place -> Objects.requireNonNull(found.get(place), "a feature"))
                .toList();
        return FeatureShard.tensor(ordered, layout, model.device());
    }

    @Override
    public StepPart step(int[] places, Dropout dropout) {
        return StepPart.sum(runOn(training, StepInput.of(model, places, dropout), training.holding(places), work));
    }

    @Override
    public boolean hasValidation() {
        return validation != null;
    }

    @Override
    public ValidationScore validate() {
        Shards shards = Objects.requireNonNull(validation, "the validation set");
        return runOn(
                        shards,
                        StepInput.of(model, new int[0], Dropout.NONE),
                        shards.all(),
                        new HeadTask.ValidationWork(work.batch()))
                .stream()
                .reduce(ImageScores.Counts.NONE, ImageScores.Counts::plus)
                .score();
    }

    /** Fits the softmax temperature on the validation set; {@link Temperature#NONE} without one. */
    Temperature temperature() {
        Shards shards = validation;
        if (shards == null) {
            return Temperature.NONE;
        }
        HeadTask.CalibrationWork wanted =
                new HeadTask.CalibrationWork(work.batch(), Math.ceilDiv(MOST_CALIBRATING, shards.groups()));
        List<ImagePrediction> predictions =
                runOn(shards, StepInput.of(model, new int[0], Dropout.NONE), shards.all(), wanted).stream()
                        .flatMap(scores -> scores.images().stream())
                        .map(scored -> new ImagePrediction("validation", scored.label(), Logits.of(scored.logits())))
                        .toList();
        return Temperature.fit(predictions);
    }

    /** Runs work on the executors for the selected shards; returns one result per group, in the order of the groups. */
    private <T extends Serializable> List<T> runOn(
            Shards shards, StepInput input, int[] selected, HeadTask.HeadWork<T> wanted) {
        JavaSparkContext program =
                JavaSparkContext.fromSparkContext(shards.rdd().context());
        Broadcast<byte[]> sent = program.broadcast(HeadTask.serialize(input));
        try {
            return shards
                    .grouped(selected)
                    .mapPartitions(new HeadTask<>(sent, shards.layout(), device, wanted))
                    .collect()
                    .stream()
                    .map(bytes -> HeadTask.deserialize(bytes, wanted.type()))
                    .toList();
        } finally {
            sent.destroy(); // otherwise the broadcasts of thousands of steps fill the executors' memory
        }
    }
}
