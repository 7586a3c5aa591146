package org.gramian.spark.executor;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.util.TaskCompletionListener;
import org.gramian.image.ImageSource;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.ModelCard;
import org.gramian.spark.executor.ModelContent.SharedModel;
import org.jspecify.annotations.Nullable;

/**
 * Appends predictions or descriptors to the rows of a partition, with a {@link org.gramian.model.Classifier}. Keeps number and
 * order of the rows.
 *
 * @param model the model
 * @param input the column of images
 * @param outputs columns to append, in this order
 * @param device {@code cpu}, {@code cuda:1}, or {@code auto}: the GPU that Spark assigned to the task, else the CPU
 */
public record PartitionScoring(SharedModel model, ImageColumn input, List<Output> outputs, String device)
        implements MapPartitionsFunction<Row, Row> {
    public PartitionScoring {
        outputs = List.copyOf(outputs);
    }

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        if (!rows.hasNext()) {
            return rows; // does not load the model for an empty partition
        }
        TaskContext task = TaskContext.get();
        TaskResources resources = TaskResources.of(task, device);
        ExecutorModels.Loaded loaded = ExecutorModels.acquire(model, resources.device());
        task.addTaskCompletionListener((TaskCompletionListener) _ -> loaded.release());
        boolean last = TaskResources.isLastAttempt(task);
        long added = outputs.contains(Output.DESCRIPTOR) ? Double.BYTES * loaded.descriptorSize() : 0;
        return new Chunks<>(
                rows, row -> ImageColumn.bytes(row) + added, chunk -> appended(chunk, loaded, resources, last));
    }

    private Set<Engine.Rows> wanted() {
        Set<Engine.Rows> wanted = EnumSet.noneOf(Engine.Rows.class);
        for (Output output : outputs) {
            Engine.Rows needed = output.needed();
            if (needed != null) {
                wanted.add(needed);
            }
        }
        return wanted;
    }

    private List<Row> appended(List<Row> chunk, ExecutorModels.Loaded loaded, TaskResources resources, boolean last) {
        resources.apply();
        List<ImageSource> images = chunk.stream()
                .map(row -> ImageSource.of("row", () -> input.read(row, last)))
                .toList();
        List<Row> rows = new ArrayList<>();
        loaded.classifier()
                .withThreads(resources.cores())
                .run(images, wanted(), (i, result) -> rows.add(appended(chunk.get(i), result, loaded.card())));
        return rows;
    }

    private Row appended(Row row, ImageResult result, ModelCard card) {
        @Nullable Object[] values = new Object[row.size() + outputs.size()];
        for (int i = 0; i < row.size(); i++) {
            values[i] = row.get(i);
        }
        for (int i = 0; i < outputs.size(); i++) {
            values[row.size() + i] = outputs.get(i).of(result, card);
        }
        return RowFactory.create(values);
    }
}
