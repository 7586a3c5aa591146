package org.gramian.spark.train;

import static org.apache.spark.sql.functions.array;
import static org.apache.spark.sql.functions.array_position;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.spark.ml.attribute.Attribute;
import org.apache.spark.ml.attribute.NominalAttribute;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StructField;
import org.gramian.spark.executor.Columns;

/**
 * The classes of a column of labels, and which of them each row is of.
 *
 * @param names of all classes, in the order of their indices
 * @param index of a row's class, an int; null where there is none
 */
record Classes(List<String> names, Column index) {
    /** More than that no classifier here tells apart, and a column of free text would have. */
    private static final int MOST = 100_000;

    /**
     * Finds the classes: the names in alphabetical order where the column has names; its numbers themselves where it has numbers.
     *
     * @throws IllegalArgumentException if numbers are no indices, or there are too many classes
     */
    static Classes of(Dataset<Row> images, String column) {
        StructField field = images.schema().apply(column);
        requireLabels(field);
        return field.dataType() instanceof NumericType ? numbered(images, field) : named(images, column);
    }

    /** @throws IllegalArgumentException if a column has neither names nor numbers */
    static void requireLabels(StructField field) {
        if (!field.dataType().equals(DataTypes.StringType) && !(field.dataType() instanceof NumericType)) {
            throw new IllegalArgumentException("expected labels in the column '" + field.name()
                    + "' as string (class names) or numbers (class indices), found "
                    + field.dataType().simpleString());
        }
    }

    private static Classes named(Dataset<Row> images, String column) {
        List<String> names = images
                .select(Columns.named(column))
                .where(Columns.named(column).isNotNull())
                .distinct()
                .limit(MOST + 1)
                .as(Encoders.STRING())
                .collectAsList()
                .stream()
                .sorted()
                .toList();
        requireFew(names.size(), column);
        Column all = array(names.stream().map(functions::lit).toArray(Column[]::new));
        Column place = array_position(all, Columns.named(column)).minus(1).cast(DataTypes.IntegerType);
        return new Classes(names, place);
    }

    private static Classes numbered(Dataset<Row> images, StructField field) {
        Column number = Columns.named(field.name());
        Row bounds = images.agg(
                        functions.max(number).cast(DataTypes.DoubleType),
                        functions.count(functions.when(
                                number.lt(0)
                                        .or(functions
                                                .floor(number.cast(DataTypes.DoubleType))
                                                .notEqual(number))
                                        .or(number.gt(MOST)),
                                1)))
                .first();
        if (bounds.isNullAt(0) || bounds.getLong(1) > 0) {
            throw new IllegalArgumentException("expected whole numbers from 0 to " + MOST + " in the column '"
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

    /** The names that {@code StringIndexer} leaves in a column's metadata. */
    private static Optional<List<String>> attributed(StructField field) {
        Attribute attribute = Attribute.fromStructField(field);
        return attribute instanceof NominalAttribute nominal && nominal.values().isDefined()
                ? Optional.of(Arrays.asList(nominal.values().get()))
                : Optional.empty();
    }

    private static void requireFew(int count, String column) {
        if (count > MOST) {
            throw new IllegalArgumentException(
                    "expected at most " + MOST + " classes in the column '" + column + "', found more");
        }
    }
}
