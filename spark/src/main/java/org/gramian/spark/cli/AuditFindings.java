package org.gramian.spark.cli;

import static org.apache.spark.sql.functions.array_contains;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.concat_ws;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.count_distinct;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.max;
import static org.apache.spark.sql.functions.min;
import static org.apache.spark.sql.functions.struct;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.when;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.gramian.image.audit.AuditOptions;
import org.gramian.image.audit.Finding;
import org.gramian.image.audit.Finding.Item;
import org.gramian.image.audit.Finding.Kind;
import org.gramian.image.audit.Finding.Severity;
import org.gramian.image.audit.ImageIssue;

/**
 * Findings of an audit from the table of {@link org.gramian.spark.executor.PartitionAudit}, in two passes. Each finding names the
 * first and the last image only, as a full list may exceed the memory of one machine.
 */
final class AuditFindings {
    private static final String UNREADABLE = "UNREADABLE";

    private AuditFindings() {}

    /** Returns the findings about single images. */
    static List<Finding> ofImages(Dataset<Row> facts) {
        List<Column> columns = new ArrayList<>(columns(UNREADABLE, col("error").isNotNull(), col("error")));
        Column shape = concat_ws(" ", concat_ws("×", col("width"), col("height")), col("format"), col("colour"));
        for (ImageIssue issue : ImageIssue.values()) {
            columns.addAll(columns(issue.name(), array_contains(col("odd"), issue.name()), shape));
        }
        Row row = facts.agg(
                        columns.getFirst(), columns.subList(1, columns.size()).toArray(Column[]::new))
                .head();
        List<Finding> findings = new ArrayList<>();
        int unreadable = number(row, UNREADABLE);
        if (unreadable > 0) {
            findings.add(new Finding(
                    Severity.SPOILS,
                    Kind.UNREADABLE,
                    String.format(Locale.ROOT, "%,d of the images cannot be read", unreadable),
                    "Training skips them: repair, replace or remove them.",
                    items(row, UNREADABLE)));
        }
        for (ImageIssue issue : ImageIssue.values()) {
            int number = number(row, issue.name());
            if (number > 0) {
                findings.add(issue.finding(number, items(row, issue.name()), AuditOptions.DEFAULT));
            }
        }
        return findings;
    }

    /** Returns the number of images that meet a condition, and the first and last of them. */
    private static List<Column> columns(String name, Column condition, Column remark) {
        Column example = when(condition, struct(col("path"), remark.as("remark")));
        return List.of(
                count(when(condition, 1)).as(name),
                min(example).as(name + " first"),
                max(example).as(name + " last"));
    }

    private static int number(Row row, String name) {
        return Math.toIntExact(row.<Long>getAs(name));
    }

    private static List<Item> items(Row row, String name) {
        return Stream.of(row.<Row>getAs(name + " first"), row.<Row>getAs(name + " last"))
                .distinct()
                .map(example -> {
                    String path = String.valueOf(example.getString(0));
                    return new Item(path, String.valueOf(example.getString(1)), List.of(path));
                })
                .toList();
    }

    /** Returns the findings about images with equal pixels. */
    static List<Finding> ofDuplicates(Dataset<Row> facts) {
        Column group = struct(col("first"), col("last"), col("images"));
        return facts
                .where(col("error").isNull())
                .groupBy("pixels")
                .agg(
                        count(lit(1)).as("images"),
                        count_distinct(col("label")).as("labels"),
                        min("path").as("first"),
                        max("path").as("last"))
                .where("images > 1")
                .groupBy(col("labels").gt(1).as("across"))
                .agg(count(lit(1)), sum("images"), min(group), max(group))
                .collectAsList()
                .stream()
                .map(AuditFindings::duplicates)
                .toList();
    }

    private static Finding duplicates(Row row) {
        String sentence =
                String.format(Locale.ROOT, "%,d images are duplicates, in %,d groups", row.getLong(2), row.getLong(1));
        List<Item> items = Stream.of(row.getStruct(3), row.getStruct(4))
                .distinct()
                .map(group -> new Item(
                        group.getString(0) + " = " + group.getString(1),
                        group.getLong(2) == 2 ? "" : group.getLong(2) + " in total",
                        List.of(group.getString(0), group.getString(1))))
                .toList();
        return row.getBoolean(0)
                ? new Finding(
                        Severity.SPOILS,
                        Kind.COPIES_ACROSS_CLASSES,
                        sentence + ", with different labels",
                        "One of the labels is wrong, or an image shows both classes: keep one copy, or none.",
                        items)
                : new Finding(
                        Severity.WARN,
                        Kind.COPIES,
                        sentence,
                        "They count more than other images, and a random split may put them on different sides: keep"
                                + " one.",
                        items);
    }
}
