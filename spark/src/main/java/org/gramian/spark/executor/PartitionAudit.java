package org.gramian.spark.executor;

import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.AuditOptions;
import org.gramian.image.audit.ImageFacts;
import org.gramian.image.audit.ImageIssue;
import org.jspecify.annotations.Nullable;

/**
 * Audits the images of a partition: one row of {@link #SCHEMA} per image, in order.
 *
 * @param input column of images
 * @param name index of the column of names
 * @param label index of the column of labels
 */
public record PartitionAudit(ImageColumn input, int name, int label) implements MapPartitionsFunction<Row, Row> {
    /** Columns: the last two are null for readable images, all after the label but these for unreadable ones. */
    public static final StructType SCHEMA =
            StructType.fromDDL("path STRING, label STRING, format STRING, colour STRING, bits INT, width INT, height"
                    + " INT, orientation INT, pixels STRING, odd ARRAY<STRING>, error STRING, error_kind STRING");

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        Iterable<Row> once = () -> rows;
        boolean last = TaskResources.isLastAttempt(TaskContext.get());
        return StreamSupport.stream(once.spliterator(), false)
                .map(row -> facts(row, last))
                .iterator();
    }

    private Row facts(Row row, boolean last) {
        String path = row.getString(name);
        String owner = row.getString(label);
        return switch (input.read(row, last)) {
            case ReadResult.Readable readable -> of(path, owner, ImageFacts.of(readable));
            case ReadResult.Unreadable(ReadResult.Problem problem, String reason) ->
                failed(path, owner, problem, reason);
        };
    }

    private static Row of(@Nullable String path, @Nullable String label, ImageFacts facts) {
        Set<ImageIssue> issues = facts.issues(path == null ? "" : path, AuditOptions.DEFAULT);
        List<String> names = issues.stream().map(ImageIssue::name).toList();
        return RowFactory.create(
                path,
                label,
                facts.origin().format().name(),
                facts.origin().colour().name(),
                facts.origin().bits(),
                facts.width(),
                facts.height(),
                facts.origin().orientation(),
                facts.digest(),
                names.toArray(String[]::new),
                null,
                null);
    }

    private static Row failed(
            @Nullable String path, @Nullable String label, ReadResult.Problem problem, String reason) {
        return RowFactory.create(path, label, null, null, null, null, null, null, null, null, reason, problem.name());
    }
}
