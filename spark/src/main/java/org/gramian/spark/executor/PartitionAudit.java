package org.gramian.spark.executor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.stream.StreamSupport;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.finding.ImageFacts;
import org.gramian.image.audit.finding.ImageIssue;
import org.jspecify.annotations.Nullable;

/** Audits the images of a partition: one row of {@link #SCHEMA} per image, in order. */
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
        List<@Nullable Object> values = new ArrayList<>(Arrays.asList(path, row.getString(label)));
        switch (input.read(row, last)) {
            case ReadResult.Readable readable -> {
                ImageFacts facts = ImageFacts.of(readable);
                values.add(facts.origin().format().name());
                values.add(facts.origin().colour().name());
                values.add(facts.origin().bits());
                values.add(facts.width());
                values.add(facts.height());
                values.add(facts.origin().orientation());
                values.add(facts.digest());
                values.add(facts.issues(path == null ? "" : path).stream()
                        .map(ImageIssue::name)
                        .toArray(String[]::new));
                values.addAll(Arrays.asList(null, null));
            }
            case ReadResult.Unreadable(ReadResult.Problem problem, String reason) -> {
                values.addAll(Collections.nCopies(SCHEMA.size() - values.size() - 2, null));
                values.addAll(List.of(reason, problem.name()));
            }
        }
        return RowFactory.create(values.toArray());
    }
}
