package org.gramian.spark.train;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.gramian.evaluate.Prediction;
import org.gramian.evaluate.Temperature;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.tensor.Tensor;
import org.gramian.train.loop.HeadWorkers;
import org.gramian.train.loop.JudgedPictures;
import org.gramian.train.loop.StepPart;
import org.gramian.train.recipe.Judgement;
import org.jspecify.annotations.Nullable;

/**
 * The executors of a program as workers on a head: they hold the features, get its parameters by a broadcast for each step, and send
 * back their parts of the gradient.
 *
 * <p>Only the shards with crops of a step have a task in it. Their parts are added up on the driver in the order of the shards, in
 * double precision: Spark's {@code treeAggregate} adds in the order in which tasks end, which would change last bits from run to
 * run. A head has about a million parameters, so that a step brings some megabytes from each core.
 */
final class SparkWorkers implements HeadWorkers {
    /** Pictures that a temperature is fitted to at most: it is one number, and their scores come to the driver. */
    private static final int MOST_CALIBRATING = 20_000;

    private final Model model;
    private final Shards training;
    private final @Nullable Shards heldBack;
    private final StepWork work;
    private final String device;

    /** @param heldBack null where no pictures judge epochs */
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
        int[] sorted = Arrays.stream(places).distinct().sorted().toArray();
        List<List<FeatureShard.Crop>> found = on(
                training.holding(places), training.rdd().map(shard -> shard.pick(sorted)));
        Map<Integer, byte[]> features = new HashMap<>();
        found.forEach(crops -> crops.forEach(crop -> features.put(crop.place(), crop.feature())));
        byte[][] ordered = Arrays.stream(places)
                .mapToObj(place -> Objects.requireNonNull(features.get(place), "a feature"))
                .toArray(byte[][]::new);
        return FeatureShard.tensor(ordered, training.form(), model.device());
    }

    @Override
    public StepPart step(int[] places) {
        return StepPart.sum(ordered(training, StepOrder.of(model, places), training.holding(places), work));
    }

    @Override
    public boolean judges() {
        return heldBack != null;
    }

    @Override
    public Judgement judge() {
        Shards shards = Objects.requireNonNull(heldBack, "pictures that judge");
        return ordered(shards, StepOrder.of(model, new int[0]), all(shards), new JudgeWork(work.batch())).stream()
                .reduce(JudgedPictures.NONE, JudgedPictures::plus)
                .judgement();
    }

    /** A temperature for the probabilities, fitted to held-back pictures; none where there are none. */
    Temperature temperature() {
        Shards shards = heldBack;
        if (shards == null) {
            return Temperature.NONE;
        }
        int[] all = all(shards);
        CalibrationWork wanted = new CalibrationWork(work.batch(), Math.ceilDiv(MOST_CALIBRATING, all.length));
        List<Prediction> predictions = ordered(shards, StepOrder.of(model, new int[0]), all, wanted).stream()
                .flatMap(List::stream)
                .map(scored -> new Prediction("held back", scored.label(), Logits.of(scored.logits())))
                .toList();
        return Temperature.fit(predictions);
    }

    private static int[] all(Shards shards) {
        return IntStream.range(0, shards.rdd().getNumPartitions()).toArray();
    }

    private <T> List<T> ordered(Shards shards, StepOrder order, int[] partitions, HeadTask.Work<T> wanted) {
        JavaSparkContext program = JavaSparkContext.fromSparkContext(shards.rdd().context());
        Broadcast<StepOrder> sent = program.broadcast(order);
        try {
            return on(partitions, shards.rdd().map(new HeadTask<>(sent, shards.form(), device, wanted)));
        } finally {
            sent.destroy(); // nobody asks for it again: of thousands of steps not one may stay in the executors' memory
        }
    }

    /** What comes of some partitions of one element, in their order. */
    private static <T> List<T> on(int[] partitions, JavaRDD<T> rdd) {
        return Arrays.stream(rdd.collectPartitions(partitions)).map(List::getFirst).toList();
    }
}
