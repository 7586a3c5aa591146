package org.gramian.spark.executor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.Inspection;
import org.gramian.image.Image;
import org.gramian.image.ReadResult;
import org.gramian.tensor.Device;
import org.jspecify.annotations.Nullable;

/**
 * Appends the results of a {@link Detector} to the rows of a partition, keeping their order: {@link #COLUMNS}. The last two are null for
 * readable images, all others for failed ones. Each task loads the detector.
 *
 * @param model content of the model file
 * @param device {@code cpu}, {@code cuda:1}, or {@code auto}: the GPU that Spark assigned to the task, else the CPU
 */
public record PartitionInspection(Broadcast<byte[]> model, ImageColumn input, String device)
        implements MapPartitionsFunction<Row, Row> {
    /** The appended columns. */
    public static final StructType COLUMNS = StructType.fromDDL(
            "anomalous BOOLEAN, score DOUBLE, p_value DOUBLE, regions ARRAY<STRUCT<x: INT, y: INT, width: INT, height:"
                    + " INT, score: DOUBLE>>, error STRING, error_kind STRING");

    private static final int ERROR = COLUMNS.fieldIndex("error");

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        if (!rows.hasNext()) {
            return rows; // does not load the model for an empty partition
        }
        TaskContext task = TaskContext.get();
        TaskResources resources = TaskResources.of(task, device);
        Detector detector = load(resources.device());
        task.addTaskCompletionListener((TaskCompletionListener) _ -> detector.close());
        boolean last = TaskResources.isLastAttempt(task);
        return new Chunks<>(rows, ImageColumn::bytes, chunk -> {
            resources.apply();
            List<Row> inspected = new ArrayList<>();
            for (Row row : chunk) {
                inspected.add(RowFactory.create(inspect(detector, row, last)));
            }
            return inspected;
        });
    }

    private Detector load(Device device) {
        try {
            return ModelContent.opened(model.value(), file -> Detector.load(file, device));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private @Nullable Object[] inspect(Detector detector, Row row, boolean last) {
        int first = row.size();
        @Nullable Object[] values = ImageColumn.extended(row, COLUMNS.size());
        switch (input.read(row, last)) {
            case ReadResult.Unreadable problem -> {
                values[first + ERROR] = problem.reason();
                values[first + ERROR + 1] = problem.problem().name();
            }
            case ReadResult.Readable(Image image, var _) -> {
                Inspection found = detector.inspect(image);
                values[first] = found.isAnomalous();
                values[first + 1] = found.score();
                values[first + 2] = found.pValue();
                values[first + 3] = found.regions().stream()
                        .map(region -> RowFactory.create(
                                region.x(), region.y(), region.width(), region.height(), region.score()))
                        .toArray(Row[]::new);
            }
        }
        return values;
    }
}
