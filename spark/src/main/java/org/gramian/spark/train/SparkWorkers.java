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
import org.gramian.train.loop.StepPart;
import org.gramian.train.loop.ValidationCounts;
import org.gramian.train.recipe.ValidationScore;
import org.jspecify.annotations.Nullable;

/**
 * The executors of a program as workers on a head: they hold the features, get its parameters by a broadcast for each step, and send
 * back their parts of the gradient.
 *
 * <p>Only the groups of shards with crops of a step have a task in it, so that a step brings at most as many gradients to the driver
 * as there are cores: {@code groups · parameters · 4} bytes, which {@code spark.driver.maxResultSize} must allow. They are added up in
 * the order of the groups, in double precision: Spark's {@code treeAggregate} adds in the order in which tasks end, which would change
 * last bits from run to run. Which images make a group never changes while a program runs, whatever is lost.
 */
final class SparkWorkers implements DistributedStage.Workers {
    /** Images that a temperature is fitted to at most: it is one number, and their scores come to the driver. */
    private static final int MOST_CALIBRATING = 20_000;

    private final Model model;
    private final Shards training;
    private final @Nullable Shards heldBack;
    private final StepWork work;
    private final String device;

    /** @param heldBack validation set, or null */
    SparkWorkers(Model model, Shards training, @Nullable Shards heldBack, StepWork work, String device) {
        this.model = model;
        this.training = training;
        this.heldBack = heldBack;
        this.work = work;
        this.device = device;
    }

    @Override
    public int count() {
        return training.count();
    }

    @Override
    public int crops() {
        return training.form().crops();
    }

    @Override
    public Tensor rows(int[] places) {
        FeatureForm form = training.form();
        Map<Integer, FeatureShard.Crop> found = new HashMap<>();
        training.grouped(training.holding(places))
                .map(shard -> FeatureShard.pack(FeatureShard.open(shard).pick(places, form), form))
                .collect()
                .forEach(picked ->
                        FeatureShard.open(picked).pick(places, form).forEach(crop -> found.put(crop.place(), crop)));
        List<FeatureShard.Crop> ordered = Arrays.stream(places)
                .mapToObj(place -> Objects.requireNonNull(found.get(place), "a feature"))
                .toList();
        return FeatureShard.tensor(ordered, form, model.device());
    }

    @Override
    public StepPart step(int[] places, Dropout dropout) {
        return StepPart.sum(ordered(training, StepOrder.of(model, places, dropout), training.holding(places), work));
    }

    @Override
    public boolean hasValidation() {
        return heldBack != null;
    }

    @Override
    public ValidationScore validate() {
        Shards shards = Objects.requireNonNull(heldBack, "the validation set");
        return ordered(
                        shards,
                        StepOrder.of(model, new int[0], Dropout.NONE),
                        shards.all(),
                        new ValidationWork(work.batch()))
                .stream()
                .reduce(ValidationCounts.NONE, ValidationCounts::plus)
                .score();
    }

    /** Fits a temperature to the validation set; empty without one. */
    Temperature temperature() {
        Shards shards = heldBack;
        if (shards == null) {
            return Temperature.NONE;
        }
        CalibrationWork wanted = new CalibrationWork(work.batch(), Math.ceilDiv(MOST_CALIBRATING, shards.groups()));
        List<ImagePrediction> predictions =
                ordered(shards, StepOrder.of(model, new int[0], Dropout.NONE), shards.all(), wanted).stream()
                        .flatMap(scores -> scores.images().stream())
                        .map(scored -> new ImagePrediction("validation", scored.label(), Logits.of(scored.logits())))
                        .toList();
        return Temperature.fit(predictions);
    }

    /** What comes of the groups that some shards make, in their order. */
    private <T extends Serializable> List<T> ordered(
            Shards shards, StepOrder order, int[] seen, HeadTask.Work<T> wanted) {
        JavaSparkContext program =
                JavaSparkContext.fromSparkContext(shards.rdd().context());
        Broadcast<byte[]> sent = program.broadcast(ObjectBytes.of(order));
        try {
            return shards
                    .grouped(seen)
                    .mapPartitions(new HeadTask<>(sent, shards.form(), device, wanted))
                    .collect()
                    .stream()
                    .map(bytes -> ObjectBytes.read(bytes, wanted.result()))
                    .toList();
        } finally {
            sent.destroy(); // not used again: broadcasts of thousands of steps would fill the memory of the executors
        }
    }
}
