package org.gramian.spark.executor;

import java.io.Serializable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.util.TaskCompletionListener;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.BatchLoader.Batch;
import org.gramian.image.batch.BatchLoader.BatchSlot;
import org.gramian.image.batch.BatchLoader.LoadRequest;
import org.gramian.image.batch.BatchLoader.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Model;
import org.gramian.spark.executor.ExecutorModels.SharedModel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FrozenBackbone;
import org.jspecify.annotations.Nullable;

/**
 * Computes the features of the images of a partition: rows {@code name, label, …} become rows {@code name, label, crops BINARY, error},
 * in order. The crops of an image are its features {@code [crops, c, h, w]} or descriptors {@code [crops, d]} in native byte order; null
 * for an unreadable image.
 *
 * @param model with the backbone, and for descriptors the fitted pooling
 * @param plan text of a {@link CropPlan}
 * @param seed of random crops; null for test crops
 * @param type of features
 * @param descriptors whether the crops are descriptors, not features
 * @param device {@code cpu}, {@code cuda:1}, or {@code auto}: the GPU that Spark assigned to the task, else the CPU
 */
public record FeatureTask(
        SharedModel model,
        ImageColumn input,
        String plan,
        @Nullable Long seed,
        DType type,
        boolean descriptors,
        String device)
        implements FlatMapFunction<Iterator<Row>, Row>, Serializable {
    /** Parts of a task that are not serialized. */
    private record Work(FeatureExtractor extractor, Model model, Crops crops, long bytes, TaskResources resources) {}

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        if (!rows.hasNext()) {
            return rows;
        }
        TaskContext task = TaskContext.get();
        TaskResources resources = TaskResources.of(task, device);
        ExecutorModels.Loaded loaded = ExecutorModels.acquire(model, resources.device());
        task.addTaskCompletionListener((TaskCompletionListener) _ -> loaded.release());
        FrozenBackbone network = new FrozenBackbone(
                loaded.model().backbone(),
                loaded.model().backboneParameters(),
                loaded.classifier().card().preprocessing(),
                model.fingerprint(),
                resources.device());
        task.addTaskCompletionListener(
                (TaskCompletionListener) _ -> network.folded().close());
        CropPlan parsed = CropPlan.parse(plan);
        Crops crops = seed == null ? parsed.testing() : parsed.training(seed);
        FeatureExtractor extractor = new FeatureExtractor(network, FeatureExtractor.DEFAULT_BATCH, type);
        long bytes = descriptors ? loaded.descriptorSize() * Float.BYTES : extractor.bytes(crops);
        Work work = new Work(extractor, loaded.model(), crops, bytes, resources);
        return new Chunks<>(rows, row -> ImageColumn.bytes(row) + crops.count() * bytes, chunk -> compute(chunk, work));
    }

    private List<Row> compute(List<Row> chunk, Work work) {
        work.resources.apply();
        int crops = work.crops.count();
        byte[][] values = new byte[chunk.size()][Math.toIntExact(crops * work.bytes)];
        @Nullable String[] errors = new String[chunk.size()];
        // A batch names images by path: here the index in the chunk.
        List<Sample> samples = IntStream.range(0, chunk.size())
                .mapToObj(i -> new Sample(chunk.get(i).getString(0), 0, Path.of(String.valueOf(i))))
                .toList();
        Rendering rendering = new Rendering(
                // never the last attempt: a store that fails must not make images unreadable
                path -> input.read(chunk.get(Integer.parseInt(path.toString())), false),
                work.crops,
                work.extractor.network().preprocessing());
        int batchSize = work.extractor.batch();
        try (Arena arena = Arena.ofShared();
                BatchLoader loader = new BatchLoader(
                        rendering,
                        LoadRequest.all(samples, work.crops),
                        Prefetch.of(batchSize, work.resources.cores()))) {
            MemorySegment features = arena.allocate(batchSize * work.extractor.bytes(work.crops), 64);
            MemorySegment computed = descriptors ? arena.allocate(batchSize * work.bytes, 64) : features;
            while (loader.hasNext()) {
                try (Scope _ = Scope.open();
                        Batch batch = loader.next()) {
                    work.extractor.compute(batch.tensor(), features);
                    if (descriptors) {
                        describe(features, computed, work);
                    }
                    for (int i = 0; i < batch.slots().size(); i++) {
                        BatchSlot slot = batch.slots().get(i);
                        slot.problem().ifPresent(problem -> errors[slot.request()] = problem.reason());
                        MemorySegment.copy(
                                computed,
                                i * work.bytes,
                                MemorySegment.ofArray(values[slot.request()]),
                                slot.crop() * work.bytes,
                                work.bytes);
                    }
                }
            }
        }
        return IntStream.range(0, values.length)
                .mapToObj(i -> RowFactory.create(
                        chunk.get(i).get(0), chunk.get(i).get(1), errors[i] == null ? values[i] : null, errors[i]))
                .toList();
    }

    /** Computes descriptors {@code [batch, d]} of features. */
    private void describe(MemorySegment features, MemorySegment target, Work work) {
        Shape one = work.extractor.shape(work.crops);
        Shape shape = Shape.of(work.extractor.batch(), one.at(0), one.at(1), one.at(2));
        Tensor maps = Tensors.viewOf(features, type, shape)
                .to(work.resources.device())
                .to(DType.F32);
        try (Tape tape = Tape.inference()) {
            Bindings head = Bindings.of(work.model.headParameters().variables(tape));
            Tensor found = work.model.describe(tape.constant(maps), head).value();
            target.copyFrom(found.to(Device.CPU).contiguous().data());
        }
    }

    /** Returns the descriptors of the crops in a row of this task, one after the other. */
    public static float[] descriptors(Row row) {
        return MemorySegment.ofArray((byte[]) row.get(2)).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    }
}
