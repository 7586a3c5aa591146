package org.gramian.spark.train;

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
import static org.gramian.spark.executor.Columns.named;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.expressions.Window;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;
import org.gramian.basis.QuotedText;

/**
 * The images of a table in an order that depends on their names alone, those that are learned from first: a number is an image's
 * place in it.
 *
 * @param numbered {@code name STRING, label INT, held BOOLEAN, number BIGINT}, in any order, held in memory until this is closed
 * @param table {@code name STRING, image}
 * @param classes names
 * @param training how many are learned from; their numbers are below it
 * @param all how many there are
 * @param fingerprint tells this catalogue from others with other names, labels or parts
 */
record ImageCatalog(
        Dataset<Row> numbered, Dataset<Row> table, List<String> classes, long training, long all, String fingerprint)
        implements AutoCloseable {
    private static final StructType NUMBERED =
            StructType.fromDDL("name STRING, label INT, held BOOLEAN, number BIGINT");

    /** Selects the validation set without a column: a fraction of every class, by hashes of the names. */
    record Holding(double share, long seed) {}

    /**
     * Reads names and labels; images are not looked at.
     *
     * @throws IllegalArgumentException if columns are missing or of a wrong type, names are not each its own, there are fewer than two classes, or
     *     one of which nothing is learned from
     */
    static ImageCatalog of(Dataset<Row> table, TrainingColumns columns, Holding holding) {
        columns.requireIn(table.schema());
        Classes classes = Classes.of(table, columns.label());
        if (classes.names().size() < 2) {
            throw new IllegalArgumentException("expected at least 2 classes, found "
                    + classes.names().size() + " in the column '" + columns.label() + "'");
        }
        Dataset<Row> named = table.select(
                named(columns.name()).cast(DataTypes.StringType).as("name"),
                classes.index().as("label"),
                heldBack(columns).as("held"));
        requireWhole(named, columns);
        Dataset<Row> numbered = numbered(columns.heldBack().isEmpty() ? held(named, holding) : named);
        numbered.persist(StorageLevel.MEMORY_AND_DISK());
        try {
            requireLearnable(numbered, classes.names());
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
                        count(when(col("held").equalTo(false), 1)),
                        sum(xxhash64(col("name"), col("label"), col("held")).cast(DataTypes.createDecimalType(38, 0))))
                .first();
        Dataset<Row> looks = table.select(
                named(columns.name()).cast(DataTypes.StringType).as("name"),
                named(columns.image()).as("picture"));
        String fingerprint = sums.getLong(0) + "/" + sums.getLong(1) + "/" + sums.getDecimal(2) + "/" + classes;
        return new ImageCatalog(numbered, looks, classes, sums.getLong(1), sums.getLong(0), fingerprint);
    }

    private static Column heldBack(TrainingColumns columns) {
        return columns.heldBack().isEmpty() ? lit(false) : coalesce(named(columns.heldBack()), lit(false));
    }

    private static void requireWhole(Dataset<Row> named, TrainingColumns columns) {
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

    private static void requireLearnable(Dataset<Row> numbered, List<String> classes) {
        Map<Integer, Long> judging = new HashMap<>();
        Set<Integer> learned = new HashSet<>();
        numbered.groupBy("label", "held").count().collectAsList().forEach(row -> {
            if (row.getBoolean(1)) {
                judging.put(row.getInt(0), row.getLong(2));
            } else {
                learned.add(row.getInt(0));
            }
        });
        for (int label = 0; label < classes.size(); label++) {
            if (!learned.contains(label)) {
                throw new IllegalArgumentException("no training image of "
                        + QuotedText.text(classes.get(label))
                        + (judging.containsKey(label)
                                ? ": all its " + judging.get(label) + " are validation images"
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

    /** Of every class the share whose hashes are smallest, rounded; none of a class with one image. */
    private static Dataset<Row> held(Dataset<Row> named, Holding holding) {
        if (holding.share == 0) {
            return named;
        }
        Column rank = row_number()
                .over(Window.partitionBy("label").orderBy(xxhash64(lit(holding.seed), col("name")), col("name")));
        Column size = count(lit(1)).over(Window.partitionBy("label"));
        return named.withColumn("rank", rank)
                .withColumn("size", size)
                .withColumn(
                        "held",
                        col("size")
                                .gt(1)
                                .and(col("rank")
                                        .leq(greatest(lit(1L), round(col("size").multiply(holding.share))))))
                .select("name", "label", "held");
    }

    /** Not by a window: that would bring all names to one task. */
    private static Dataset<Row> numbered(Dataset<Row> named) {
        JavaRDD<Row> rows = named.orderBy("held", "name")
                .javaRDD()
                .zipWithIndex()
                .map(pair -> RowFactory.create(
                        pair._1().getString(0), pair._1().getInt(1), pair._1().getBoolean(2), pair._2()));
        return named.sparkSession().createDataFrame(rows, NUMBERED);
    }

    /**
     * Some of the numbered images, a few hundred thousand at most, with their column {@code image}. Numbers follow names, so that
     * of a table that is sorted by names Spark reads only the part between theirs; bytes of other images are nowhere sent.
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
