package org.gramian.spark.train;

import static org.apache.spark.sql.functions.array;
import static org.apache.spark.sql.functions.array_position;
import static org.apache.spark.sql.functions.broadcast;
import static org.apache.spark.sql.functions.coalesce;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.countDistinct;
import static org.apache.spark.sql.functions.greatest;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.max;
import static org.apache.spark.sql.functions.min;
import static org.apache.spark.sql.functions.round;
import static org.apache.spark.sql.functions.row_number;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.when;
import static org.apache.spark.sql.functions.xxhash64;
import static org.gramian.spark.executor.ImageColumn.named;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.attribute.Attribute;
import org.apache.spark.ml.attribute.NominalAttribute;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.expressions.Window;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;
import org.gramian.basis.QuotedText;

/**
 * Images of a table, numbered by name, the training set first.
 *
 * @param numbered {@code name STRING, label INT, validation BOOLEAN, number BIGINT}, in any order, cached until closed
 * @param table {@code name STRING, image}
 * @param classes names
 * @param training number of training images, whose numbers are below it
 * @param all number of images
 * @param fingerprint of names, labels and split
 */
record ImageCatalog(
        Dataset<Row> numbered, Dataset<Row> table, List<String> classes, long training, long all, String fingerprint)
        implements AutoCloseable {
    private static final StructType NUMBERED =
            StructType.fromDDL("name STRING, label INT, validation BOOLEAN, number BIGINT");

    /** Most classes; a column of free text would have more. */
    private static final int MOST_CLASSES = 100_000;

    /** Selects the validation set without a column: a fraction of every class, by hashes of the names. */
    record ValidationSplit(double fraction, long seed) {}

    /**
     * Classes of a column of labels.
     *
     * @param names of all classes, in the order of their indices
     * @param index class index of a row, an int; null for a row without a label
     */
    private record Classes(List<String> names, Column index) {}

    /**
     * Reads names and labels, but no images.
     *
     * @throws IllegalArgumentException if columns are missing or have a wrong type, names are not unique, there are fewer than two
     *     classes, or a class has no training image
     */
    static ImageCatalog of(Dataset<Row> table, TrainingColumns columns, ValidationSplit split) {
        columns.requireIn(table.schema());
        Classes classes = classes(table, columns.label());
        if (classes.names().size() < 2) {
            throw new IllegalArgumentException("expected at least 2 classes, found "
                    + classes.names().size() + " in the column '" + columns.label() + "'");
        }
        Dataset<Row> named = table.select(
                named(columns.name()).cast(DataTypes.StringType).as("name"),
                classes.index().as("label"),
                validation(columns).as("validation"));
        requireComplete(named, columns);
        Dataset<Row> numbered = numbered(columns.validation().isEmpty() ? split(named, split) : named);
        numbered.persist(StorageLevel.MEMORY_AND_DISK());
        try {
            requireTrainingImages(numbered, classes.names());
            return of(table, columns, numbered, classes.names());
        } catch (RuntimeException failed) {
            numbered.unpersist(false);
            throw failed;
        }
    }

    private static ImageCatalog of(
            Dataset<Row> table, TrainingColumns columns, Dataset<Row> numbered, List<String> classes) {
        Row sums = numbered.agg(
                        count(lit(1)),
                        count(when(col("validation").equalTo(false), 1)),
                        sum(xxhash64(col("name"), col("label"), col("validation"))
                                .cast(DataTypes.createDecimalType(38, 0))))
                .first();
        Dataset<Row> images = table.select(
                named(columns.name()).cast(DataTypes.StringType).as("name"),
                named(columns.image()).as("image"));
        String fingerprint = sums.getLong(0) + "/" + sums.getLong(1) + "/" + sums.getDecimal(2) + "/" + classes;
        return new ImageCatalog(numbered, images, classes, sums.getLong(1), sums.getLong(0), fingerprint);
    }

    /**
     * Finds the classes: names in alphabetical order, or class indices.
     *
     * @throws IllegalArgumentException if numbers are no indices, or there are too many classes
     */
    private static Classes classes(Dataset<Row> images, String column) {
        StructField field = images.schema().apply(column);
        requireLabels(field);
        return field.dataType() instanceof NumericType ? indexedClasses(images, field) : namedClasses(images, column);
    }

    /** Throws if a column has neither names nor numbers. */
    static void requireLabels(StructField field) {
        if (!field.dataType().equals(DataTypes.StringType) && !(field.dataType() instanceof NumericType)) {
            throw new IllegalArgumentException("expected labels in the column '" + field.name()
                    + "' as string (class names) or numbers (class indices), found "
                    + field.dataType().simpleString());
        }
    }

    private static Classes namedClasses(Dataset<Row> images, String column) {
        List<String> names = images
                .select(named(column))
                .where(named(column).isNotNull())
                .distinct()
                .limit(MOST_CLASSES + 1)
                .as(Encoders.STRING())
                .collectAsList()
                .stream()
                .sorted()
                .toList();
        if (names.size() > MOST_CLASSES) {
            throw new IllegalArgumentException(
                    "expected at most " + MOST_CLASSES + " classes in the column '" + column + "', found more");
        }
        Column all = array(names.stream().map(functions::lit).toArray(Column[]::new));
        Column place = array_position(all, named(column)).minus(1).cast(DataTypes.IntegerType);
        return new Classes(names, place);
    }

    private static Classes indexedClasses(Dataset<Row> images, StructField field) {
        Column number = named(field.name());
        Row bounds = images.agg(
                        functions.max(number).cast(DataTypes.DoubleType),
                        functions.count(functions.when(
                                number.lt(0)
                                        .or(functions
                                                .floor(number.cast(DataTypes.DoubleType))
                                                .notEqual(number))
                                        .or(number.gt(MOST_CLASSES)),
                                1)))
                .first();
        if (bounds.isNullAt(0) || bounds.getLong(1) > 0) {
            throw new IllegalArgumentException("expected whole numbers from 0 to " + MOST_CLASSES + " in the column '"
                    + field.name() + "' of labels, found "
                    + (bounds.isNullAt(0) ? "none" : bounds.getLong(1) + " others"));
        }
        int highest = (int) bounds.getDouble(0);
        List<String> names = attributed(field)
                .orElseGet(() -> IntStream.rangeClosed(0, highest)
                        .mapToObj(Integer::toString)
                        .toList());
        if (highest >= names.size()) {
            throw new IllegalArgumentException("expected labels below " + names.size()
                    + ", the number of class names the" + " column '" + field.name() + "' defines, found " + highest);
        }
        return new Classes(names, number.cast(DataTypes.IntegerType));
    }

    /** Returns the names that {@code StringIndexer} writes to the metadata of a column. */
    private static Optional<List<String>> attributed(StructField field) {
        Attribute attribute = Attribute.fromStructField(field);
        return attribute instanceof NominalAttribute nominal && nominal.values().isDefined()
                ? Optional.of(Arrays.asList(nominal.values().get()))
                : Optional.empty();
    }

    private static Column validation(TrainingColumns columns) {
        return columns.validation().isEmpty() ? lit(false) : coalesce(named(columns.validation()), lit(false));
    }

    private static void requireComplete(Dataset<Row> named, TrainingColumns columns) {
        Row found = named.agg(
                        count(lit(1)),
                        count(when(col("name").isNull(), 1)),
                        count(when(col("label").isNull(), 1)),
                        countDistinct("name"))
                .first();
        long all = found.getLong(0);
        require(all > 0, "images", "an empty table");
        require(found.getLong(1) == 0, "a name in every row of '" + columns.name() + "'", found.getLong(1) + " nulls");
        require(
                found.getLong(2) == 0,
                "a label in every row of '" + columns.label() + "'",
                found.getLong(2) + " nulls");
        require(
                found.getLong(3) == all,
                "unique names for all " + all + " images in '" + columns.name() + "'",
                found.getLong(3) + " distinct ones");
    }

    private static void requireTrainingImages(Dataset<Row> numbered, List<String> classes) {
        Map<Integer, Long> validation = new HashMap<>();
        Set<Integer> training = new HashSet<>();
        numbered.groupBy("label", "validation").count().collectAsList().forEach(row -> {
            if (row.getBoolean(1)) {
                validation.put(row.getInt(0), row.getLong(2));
            } else {
                training.add(row.getInt(0));
            }
        });
        for (int label = 0; label < classes.size(); label++) {
            if (!training.contains(label)) {
                throw new IllegalArgumentException("no training image of "
                        + QuotedText.text(classes.get(label))
                        + (validation.containsKey(label)
                                ? ": all its " + validation.get(label) + " are validation images"
                                : "")
                        + "; add some, or remove the class");
            }
        }
    }

    private static void require(boolean fits, String expected, String found) {
        if (!fits) {
            throw new IllegalArgumentException("expected " + expected + ", found " + found);
        }
    }

    /** Selects of every class the fraction with the smallest hashes, rounded; none of a class with one image. */
    private static Dataset<Row> split(Dataset<Row> named, ValidationSplit split) {
        if (split.fraction == 0) {
            return named;
        }
        Column rank = row_number()
                .over(Window.partitionBy("label").orderBy(xxhash64(lit(split.seed), col("name")), col("name")));
        Column size = count(lit(1)).over(Window.partitionBy("label"));
        return named.withColumn("rank", rank)
                .withColumn("size", size)
                .withColumn(
                        "validation",
                        col("size")
                                .gt(1)
                                .and(col("rank")
                                        .leq(greatest(lit(1L), round(col("size").multiply(split.fraction))))))
                .select("name", "label", "validation");
    }

    /** Numbers the images without a window, which would bring all names to one task. */
    private static Dataset<Row> numbered(Dataset<Row> named) {
        JavaRDD<Row> rows = named.orderBy("validation", "name")
                .javaRDD()
                .zipWithIndex()
                .map(pair -> RowFactory.create(
                        pair._1().getString(0), pair._1().getInt(1), pair._1().getBoolean(2), pair._2()));
        return named.sparkSession().createDataFrame(rows, NUMBERED);
    }

    /**
     * Adds the column {@code image} to some numbered images, a few hundred thousand at most. Numbers follow names, so Spark reads
     * only a part of a table sorted by name, and shuffles no bytes of other images.
     */
    Dataset<Row> images(Dataset<Row> some) {
        Row ends = some.agg(min("name"), max("name")).first();
        return table.where(col("name").between(ends.get(0), ends.get(1))).join(broadcast(some), "name");
    }

    @Override
    public void close() {
        numbered.unpersist(false);
    }
}
