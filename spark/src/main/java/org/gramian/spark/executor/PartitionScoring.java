package org.gramian.spark.executor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.TaskCompletionListener;
import org.gramian.image.ImageSource;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.Prediction;
import org.gramian.spark.executor.ExecutorModels.SharedModel;
import org.jspecify.annotations.Nullable;

/**
 * Appends the results of a {@link Classifier} to the rows of a partition, keeping their order: index of the class, its name,
 * probabilities at the temperature of the model, descriptor (the mean of the crops), error and kind of error. The last two are null for
 * readable images, all others for failed ones.
 *
 * @param wanted scores, descriptors or both; the others are null
 * @param device {@code cpu}, {@code cuda:1}, or {@code auto}: the GPU that Spark assigned to the task, else the CPU
 */
public record PartitionScoring(SharedModel model, ImageColumn input, Set<Engine.Rows> wanted, String device)
        implements MapPartitionsFunction<Row, Row> {
    /** Types of the appended columns. */
    public static final List<DataType> TYPES = List.of(
            DataTypes.DoubleType,
            DataTypes.StringType,
            SQLDataTypes.VectorType(),
            SQLDataTypes.VectorType(),
            DataTypes.StringType,
            DataTypes.StringType);

    /** Index of the descriptor in {@link #TYPES}; columns of scores are before it. */
    public static final int DESCRIPTOR = 3;

    private static final int ERROR = 4;
    private static final int ERROR_KIND = 5;

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
        Classifier classifier = loaded.classifier().withThreads(resources.cores());
        long added = wanted.contains(Engine.Rows.DESCRIPTORS) ? Double.BYTES * loaded.descriptorSize() : 0;
        return new Chunks<>(rows, row -> ImageColumn.bytes(row) + added, chunk -> {
            resources.apply();
            List<ImageSource> images = chunk.stream()
                    .map(row -> ImageSource.of("row", () -> input.read(row, last)))
                    .toList();
            List<Row> scored = new ArrayList<>();
            classifier.run(images, wanted, (i, result) -> scored.add(appended(chunk.get(i), result, classifier)));
            return scored;
        });
    }

    private Row appended(Row row, ImageResult result, Classifier classifier) {
        @Nullable Object[] values = ImageColumn.extended(row, TYPES.size());
        int first = row.size();
        switch (result) {
            case ImageResult.Failed failed -> {
                values[first + ERROR] = failed.reason();
                values[first + ERROR_KIND] = failed.kind();
            }
            case ImageResult.Computed computed -> {
                if (wanted.contains(Engine.Rows.SCORES)) {
                    Prediction prediction = computed.prediction().orElseThrow();
                    values[first] = (double) prediction.logits().top();
                    values[first + 1] = prediction.className();
                    values[first + 2] = Vectors.dense(
                            prediction.logits().probabilities(classifier.card().temperature()));
                }
                if (wanted.contains(Engine.Rows.DESCRIPTORS)) {
                    float[] descriptor = computed.descriptor();
                    double[] wide = new double[descriptor.length];
                    Arrays.setAll(wide, i -> descriptor[i]);
                    values[first + DESCRIPTOR] = Vectors.dense(wide);
                }
            }
        }
        return RowFactory.create(values);
    }
}
