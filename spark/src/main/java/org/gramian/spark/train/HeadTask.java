package org.gramian.spark.train;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.StreamSupport;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.broadcast.Broadcast;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.spark.executor.ExecutorModels;
import org.gramian.spark.executor.TaskResources;
import org.gramian.tensor.Scope;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.loop.ImageScores;
import org.gramian.train.loop.StepPart;
import org.gramian.train.loop.Targets;
import org.gramian.train.recipe.Recipe;

/**
 * Spark task that computes something with the head on the crops of a group of shards. Takes packed shards and returns one
 * serialized result.
 *
 * @param input head and step, serialized by {@link #serialize}
 * @param layout of the features
 * @param device of the executors, as in a {@link TrainingJob}
 * @param work to do
 */
record HeadTask<T extends Serializable>(
        Broadcast<byte[]> input, FeatureShard.Layout layout, String device, HeadWork<T> work)
        implements FlatMapFunction<Iterator<byte[]>, byte[]> {
    /** Computation on a group of shards. */
    sealed interface HeadWork<T extends Serializable> extends Serializable {
        T compute(Group group);

        /** Returns the type of the result. */
        Class<T> type();
    }

    /**
     * Group of shards on an executor.
     *
     * @param model head with the current parameters
     * @param input of the step
     * @param shards in order; a consumed one need not stay in memory
     * @param layout of their features
     */
    record Group(Model model, StepInput input, Iterator<FeatureShard> shards, FeatureShard.Layout layout) {
        /** Scores all images of a shard in the order of their places; all crops of an image are in one shard. */
        private List<Logits> scores(FeatureShard shard, int batch) {
            ImageScores.Rows rows = new ImageScores.Rows(
                    shard.places().length, layout.crops(), places -> shard.features(places, layout, model.device()));
            return ImageScores.ofRows(model, rows, batch).compute();
        }
    }

    @Override
    public Iterator<byte[]> call(Iterator<byte[]> packed) {
        TaskResources resources = TaskResources.of(TaskContext.get(), device);
        resources.apply();
        ExecutorModels.freeUnused(); // the backbone that computed the features
        StepInput step = deserialize(input.value(), StepInput.class);
        Iterator<FeatureShard> shards = StreamSupport.stream(
                        Spliterators.spliteratorUnknownSize(packed, Spliterator.ORDERED), false)
                .map(FeatureShard::open)
                .iterator();
        try (Scope _ = Scope.open();
                Model model = step.model(resources.device())) {
            return List.of(serialize(work.compute(new Group(model, step, shards, layout))))
                    .iterator();
        }
    }

    /**
     * Serializes an object with Java serialization: {@code spark.serializer} may be Kryo, which does not support records.
     */
    static byte[] serialize(Serializable object) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
            stream.writeObject(object);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // in memory, of serializable types
        }
        return bytes.toByteArray();
    }

    static <T> T deserialize(byte[] bytes, Class<T> type) {
        try (ObjectInputStream stream = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return type.cast(stream.readObject());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (ClassNotFoundException unknown) {
            throw new IllegalStateException(
                    "expected the same program version on driver and executors, found an unknown type", unknown);
        }
    }

    /**
     * Gradient of the crops of a group in a training step.
     *
     * @param smoothing label smoothing
     * @param weights class weights
     * @param counts training images by class
     * @param batch batch size in crops
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record GradientWork(double smoothing, Recipe.Loss.ClassWeights weights, long[] counts, int batch)
            implements HeadWork<StepPart> {
        @Override
        public StepPart compute(Group group) {
            Targets targets = Targets.of(new Recipe.Loss(smoothing, weights), counts);
            List<FeatureShard.Crop> crops = crops(group);
            List<StepPart> parts = new ArrayList<>();
            for (int start = 0; start < crops.size(); start += batch) {
                try (Scope _ = Scope.open()) { // frees the memory of a batch before the next
                    List<FeatureShard.Crop> some = crops.subList(start, Math.min(crops.size(), start + batch));
                    Minibatch minibatch = new Minibatch(
                            FeatureShard.tensor(some, group.layout, group.model.device()),
                            some.stream().mapToInt(FeatureShard.Crop::label).toArray());
                    int[] places =
                            some.stream().mapToInt(FeatureShard.Crop::place).toArray();
                    parts.add(StepPart.of(group.model, minibatch, targets, group.input.step(), places));
                }
            }
            return parts.size() == 1 ? parts.getFirst() : StepPart.sum(parts);
        }

        /** Returns the crops of the group in the order of the step. */
        private static List<FeatureShard.Crop> crops(Group group) {
            int[] places = group.input.places();
            Map<Integer, FeatureShard.Crop> found = new HashMap<>();
            group.shards.forEachRemaining(
                    shard -> shard.pick(places, group.layout).forEach(crop -> found.put(crop.place(), crop)));
            return Arrays.stream(places)
                    .mapToObj(found::get)
                    .filter(Objects::nonNull)
                    .toList();
        }

        @Override
        public Class<StepPart> type() {
            return StepPart.class;
        }
    }

    /**
     * Loss and accuracy of the validation images of a group.
     *
     * @param batch batch size in crops
     */
    record ValidationWork(int batch) implements HeadWork<ImageScores.Counts> {
        @Override
        public ImageScores.Counts compute(Group group) {
            ImageScores.Counts counts = ImageScores.Counts.NONE;
            while (group.shards.hasNext()) {
                FeatureShard shard = group.shards.next();
                List<Logits> scores = group.scores(shard, batch);
                for (int i = 0; i < scores.size(); i++) {
                    counts = counts.plus(scores.get(i), shard.labels()[i * group.layout.crops()]);
                }
            }
            return counts;
        }

        @Override
        public Class<ImageScores.Counts> type() {
            return ImageScores.Counts.class;
        }
    }

    /**
     * Scores of validation images of a group, for temperature scaling.
     *
     * @param batch batch size in crops
     * @param most most images of a group
     */
    record CalibrationWork(int batch, int most) implements HeadWork<CalibrationWork.Scores> {
        /** Label and logits of an image. */
        @SuppressWarnings("ArrayRecordComponent") // never compared
        record Scored(int label, double[] logits) implements Serializable {}

        /** Scores of several images. */
        record Scores(List<Scored> images) implements Serializable {}

        @Override
        public Scores compute(Group group) {
            List<Scored> some = new ArrayList<>();
            while (some.size() < most && group.shards.hasNext()) {
                FeatureShard shard = group.shards.next();
                List<Logits> scores = group.scores(shard, batch);
                for (int i = 0; i < scores.size() && some.size() < most; i++) {
                    int label = shard.labels()[i * group.layout.crops()];
                    some.add(new Scored(label, scores.get(i).toArray()));
                }
            }
            return new Scores(some);
        }

        @Override
        public Class<Scores> type() {
            return Scores.class;
        }
    }
}
