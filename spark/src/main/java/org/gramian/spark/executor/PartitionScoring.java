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
import org.gramian.model.Engine;
import org.jspecify.annotations.Nullable;

/**
 * Appends what a model says to the rows of a partition: as many rows as there were, in their order.
 *
 * @param model what computes
 * @param input where images are
 * @param outputs what is appended, in this order
 * @param device where the model computes: {@code cpu}, {@code cuda:1}, or {@code auto} for the GPU that Spark gave the task, and
 *     the processor where it gave none
 */
public record PartitionScoring(SharedModel model, ImageColumn input, List<Output> outputs, String device)
        implements MapPartitionsFunction<Row, Row> {
    public PartitionScoring {
        outputs = List.copyOf(outputs);
    }

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        if (!rows.hasNext()) {
            return rows; // no model is loaded for nothing
        }
        TaskContext task = TaskContext.get();
        TaskResources resources = TaskResources.of(task, device);
        ExecutorModels.Lease lease = ExecutorModels.acquire(model, resources.device());
        task.addTaskCompletionListener((TaskCompletionListener) _ -> lease.close());
        Pass pass = new Pass(lease, resources, wanted());
        boolean last = Attempts.isLast(task);
        long added = outputs.contains(Output.DESCRIPTOR) ? Double.BYTES * lease.descriptorSize() : 0;
        return new Chunks<>(rows, row -> ImageColumn.bytes(row) + added, chunk -> appended(chunk, pass, last));
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

    private List<Row> appended(List<Row> chunk, Pass pass, boolean last) {
        List<Scored> scored = pass.over(chunk.size(), number -> input.read(chunk.get(number), last));
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < chunk.size(); i++) {
            rows.add(appended(chunk.get(i), scored.get(i)));
        }
        return rows;
    }

    private Row appended(Row row, Scored scored) {
        @Nullable Object[] values = new Object[row.size() + outputs.size()];
        for (int i = 0; i < row.size(); i++) {
            values[i] = row.get(i);
        }
        for (int i = 0; i < outputs.size(); i++) {
            values[row.size() + i] = outputs.get(i).of(scored);
        }
        return RowFactory.create(values);
    }
}
