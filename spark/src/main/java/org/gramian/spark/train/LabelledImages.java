package org.gramian.spark.train;

import static org.apache.spark.sql.functions.array;
import static org.apache.spark.sql.functions.array_position;
import static org.apache.spark.sql.functions.coalesce;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.pmod;
import static org.apache.spark.sql.functions.xxhash64;
import static org.gramian.spark.executor.ImageColumn.named;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.spark.ml.attribute.Attribute;
import org.apache.spark.ml.attribute.NominalAttribute;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.gramian.basis.QuotedText;

/**
 * Labelled images of a table.
 *
 * @param rows {@code name STRING, label INT, validation BOOLEAN, image}
 */
public record LabelledImages(Dataset<Row> rows, List<String> classes, long count) {
    /** Index of the column of images. */
    static final int IMAGE = 3;

    /** A column of free text would have more classes. */
    private static final int MAX_CLASSES = 100_000;

    /** Buckets of hashes, of which a fraction is the validation set. */
    private static final long BUCKETS = 1L << 20;

    /**
     * Columns of a table of labelled images.
     *
     * @param image bytes (binary) or path (string) in a file system that executors reach
     * @param name unique name (string); determines the order of images and their random crops
     * @param label class name (string), or class index (number) with names in the metadata of the column, as {@code StringIndexer}
     *     writes them
     * @param validation marks validation images (boolean); empty to select a fraction
     */
    public record Columns(String image, String name, String label, String validation) {
        public void requireIn(StructType schema) {
            List<String> there = Arrays.asList(schema.fieldNames());
            for (String column : List.of(image, name, label, validation)) {
                require(
                        column.isEmpty() || there.contains(column),
                        "a column '" + column + "'",
                        String.join(", ", there));
            }
            DataType labels = schema.apply(label).dataType();
            require(
                    labels.equals(DataTypes.StringType) || labels instanceof NumericType,
                    "labels in the column '" + label + "' as string (class names) or numbers (class indices)",
                    labels.simpleString());
            require(
                    validation.isEmpty() || schema.apply(validation).dataType().equals(DataTypes.BooleanType),
                    "the column '" + validation + "' to mark validation images by true and false (boolean)",
                    "another type");
        }
    }

    record Counts(long training, long validation) {}

    private static void require(boolean fits, String expected, String found) {
        if (!fits) {
            throw new IllegalArgumentException("expected " + expected + ", found " + found);
        }
    }

    /** Reads the labels, but no images. */
    static LabelledImages of(Dataset<Row> table, Columns columns) {
        columns.requireIn(table.schema());
        List<Row> labels = table.groupBy(named(columns.label()))
                .count()
                .limit(MAX_CLASSES + 1)
                .collectAsList();
        String column = "the column '" + columns.label() + "'";
        require(labels.size() <= MAX_CLASSES, "at most " + MAX_CLASSES + " classes in " + column, "more");
        require(labels.stream().noneMatch(row -> row.isNullAt(0)), "a label in every row of " + column, "nulls");
        StructField field = table.schema().apply(columns.label());
        boolean indices = field.dataType() instanceof NumericType;
        List<String> classes = indices
                ? indexed(field, labels)
                : labels.stream().map(row -> row.getString(0)).sorted().toList();
        require(classes.size() > 1, "at least 2 classes in " + column, classes.size() + "");
        Column names = array(classes.stream().map(functions::lit).toArray(Column[]::new));
        Column label = named(columns.label());
        Dataset<Row> rows = table.select(
                named(columns.name()).cast(DataTypes.StringType).as("name"),
                (indices ? label : array_position(names, label).minus(1))
                        .cast(DataTypes.IntegerType)
                        .as("label"),
                (columns.validation().isEmpty() ? lit(false) : coalesce(named(columns.validation()), lit(false)))
                        .as("validation"),
                named(columns.image()).as("image"));
        return new LabelledImages(
                rows, classes, labels.stream().mapToLong(row -> row.getLong(1)).sum());
    }

    /** Returns the names of classes by index: those that {@code StringIndexer} writes to the metadata, else the numbers. */
    private static List<String> indexed(StructField field, List<Row> labels) {
        double[] numbers = labels.stream()
                .mapToDouble(row -> ((Number) Objects.requireNonNull(row.get(0))).doubleValue())
                .toArray();
        require(
                Arrays.stream(numbers).allMatch(number -> number >= 0 && number == Math.rint(number)),
                "whole numbers from 0 as labels in the column '" + field.name() + "'",
                "others");
        double highest = Arrays.stream(numbers).max().orElse(0);
        List<String> classes = Attribute.fromStructField(field) instanceof NominalAttribute nominal
                        && nominal.values().isDefined()
                ? Arrays.asList(nominal.values().get())
                : IntStream.range(0, (int) Math.min(highest + 1, MAX_CLASSES))
                        .mapToObj(Integer::toString)
                        .toList();
        require(
                highest < classes.size(),
                "labels below " + classes.size() + " in the column '" + field.name() + "'",
                Double.toString(highest));
        return classes;
    }

    /** Selects a validation set by hashes of the names, so that other images do not change the side of an image. */
    LabelledImages split(double fraction, long seed) {
        Column bucket = pmod(xxhash64(lit(seed), col("name")), lit(BUCKETS));
        Dataset<Row> split = rows.withColumn("validation", bucket.lt(lit((long) (fraction * BUCKETS))));
        return new LabelledImages(split, classes, count);
    }

    Dataset<Row> part(boolean validation) {
        return rows.where(col("validation").equalTo(validation));
    }

    Counts counts() {
        long[] training = new long[classes.size()];
        long[] validation = new long[classes.size()];
        for (Row row : rows.groupBy("label", "validation")
                .agg(functions.count(lit(1)), functions.count("name"))
                .collectAsList()) {
            require(
                    row.getLong(2) == row.getLong(3),
                    "a name for every image",
                    (row.getLong(2) - row.getLong(3)) + " nulls");
            (row.getBoolean(1) ? validation : training)[row.getInt(0)] = row.getLong(2);
        }
        for (int label = 0; label < training.length; label++) {
            if (training[label] == 0) {
                throw new IllegalArgumentException("no training image of " + QuotedText.text(classes.get(label))
                        + (validation[label] > 0 ? ": all its " + validation[label] + " are validation images" : "")
                        + "; add some, or remove the class");
            }
        }
        return new Counts(
                Arrays.stream(training).sum(), Arrays.stream(validation).sum());
    }
}
