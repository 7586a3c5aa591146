package org.gramian.spark.train;

import java.io.Serializable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.util.TaskCompletionListener;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.Batch.BatchSlot;
import org.gramian.image.batch.BatchLoader.LoadRequest;
import org.gramian.image.batch.BatchLoader.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.spark.executor.Chunks;
import org.gramian.spark.executor.ExecutorModels;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.ModelContent.SharedModel;
import org.gramian.spark.executor.TaskResources;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FrozenBackbone;
import org.jspecify.annotations.Nullable;

/**
 * Computes the features of the images of a partition: rows {@code name, label, number, image} become rows of {@link
 * FeatureStore}, one per crop, or one with the error of an unreadable image.
 *
 * @param model with the backbone
 * @param input column of images
 * @param crops crop plan
 * @param type of the stored features
 * @param device of the executors
 */
record FeatureTask(SharedModel model, ImageColumn input, CropText crops, DType type, String device)
        implements MapPartitionsFunction<Row, Row> {
    /**
     * Serializable form of crops.
     *
     * @param plan as {@code center:224}
     * @param seed of random crops; ignored for test crops
     * @param training whether the crops are training crops
     */
    record CropText(String plan, long seed, boolean training) implements Serializable {
        Crops crops() {
            CropPlan parsed = CropPlan.parse(plan);
            return training ? parsed.training(seed) : parsed.testing();
        }
    }

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        if (!rows.hasNext()) {
            return rows;
        }
        TaskContext task = TaskContext.get();
        TaskResources resources = TaskResources.of(task, device);
        ExecutorModels.Lease lease = ExecutorModels.acquire(model, resources.device());
        task.addTaskCompletionListener((TaskCompletionListener) _ -> lease.close());
        FrozenBackbone network = new FrozenBackbone(
                lease.model().backbone(),
                lease.model().backboneParameters(),
                lease.card().preprocessing(),
                model.fingerprint(),
                resources.device());
        task.addTaskCompletionListener(
                (TaskCompletionListener) _ -> network.folded().close());
        FeatureExtractor extractor = new FeatureExtractor(network, FeatureExtractor.DEFAULT_BATCH, type);
        FeatureIterator features = new FeatureIterator(rows, this, extractor, resources);
        task.addTaskCompletionListener((TaskCompletionListener) _ -> features.close());
        return features;
    }

    /**
     * Features of the images of a task. Takes some images at a time, decodes them ahead, and returns features batch by batch, so
     * that memory is bounded.
     */
    private static final class FeatureIterator implements Iterator<Row>, AutoCloseable {
        private final Iterator<Row> images;
        private final FeatureTask task;
        private final FeatureExtractor extractor;
        private final TaskResources resources;
        private final Crops crops;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment features;
        private final Deque<Row> ready = new ArrayDeque<>();
        private List<Row> taken = List.of();
        private @Nullable BatchLoader loader;

        FeatureIterator(Iterator<Row> images, FeatureTask task, FeatureExtractor extractor, TaskResources resources) {
            this.images = images;
            this.task = task;
            this.extractor = extractor;
            this.resources = resources;
            this.crops = task.crops().crops();
            this.features = arena.allocate(extractor.batch() * extractor.bytes(crops), 64);
            resources.apply();
        }

        @Override
        public boolean hasNext() {
            while (ready.isEmpty()) {
                BatchLoader present = loader;
                if (present != null && present.hasNext()) {
                    compute(present);
                } else if (images.hasNext()) {
                    closeLoader();
                    loader = load();
                } else {
                    return false;
                }
            }
            return true;
        }

        @Override
        public Row next() {
            if (!hasNext()) {
                throw new NoSuchElementException("no more features");
            }
            return ready.removeFirst();
        }

        private BatchLoader load() {
            taken = Chunks.take(images, ImageColumn::bytes);
            // A batch names images by path: here the index among the rows taken.
            List<Row> rows = taken;
            List<Sample> samples = IntStream.range(0, rows.size())
                    .mapToObj(i -> new Sample(rows.get(i).getString(0), 0, Path.of(String.valueOf(i))))
                    .toList();
            Rendering rendering = new Rendering(
                    // Never the last attempt: a resumed run does not retry images stored as unreadable.
                    path -> task.input().read(rows.get(Integer.parseInt(path.toString())), false),
                    crops,
                    extractor.network().preprocessing());
            return new BatchLoader(
                    rendering, LoadRequest.all(samples, crops), Prefetch.of(extractor.batch(), resources.cores()));
        }

        private void compute(BatchLoader from) {
            try (Scope _ = Scope.open();
                    Batch batch = from.next()) {
                extractor.compute(batch.tensor(), features);
                long bytes = extractor.bytes(crops);
                for (int i = 0; i < batch.slots().size(); i++) {
                    add(batch.slots().get(i), features.asSlice(i * bytes, bytes));
                }
            }
        }

        private void add(BatchSlot slot, MemorySegment feature) {
            Row image = taken.get(slot.request());
            if (slot.problem().isEmpty()) {
                ready.add(row(image, slot.crop(), feature.toArray(ValueLayout.JAVA_BYTE), null));
            } else if (slot.crop() == 0) { // one row for all crops
                ready.add(row(image, 0, null, slot.problem().get().reason()));
            }
        }

        private static Row row(Row image, int crop, byte @Nullable [] feature, @Nullable String reason) {
            return RowFactory.create(image.getString(0), image.getInt(1), image.getLong(2), crop, feature, reason);
        }

        private void closeLoader() {
            if (loader != null) {
                loader.close();
                loader = null;
            }
        }

        @Override
        public void close() {
            closeLoader();
            if (arena.scope().isAlive()) {
                arena.close();
            }
        }
    }
}
