package org.gramian.spark.train;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Columns of a table of labelled images.
 *
 * @param image bytes (binary) or path (string) in a file system that executors reach
 * @param name unique name (string); determines the order of images and their random crops
 * @param label class name (string), or class index (number) with names in the metadata of the column, as {@code StringIndexer}
 *     writes them
 * @param validation marks validation images (boolean); empty to select a fraction
 */
public record TrainingColumns(String image, String name, String label, String validation) {
    /** Returns columns of images by path, which is also the name; a fraction becomes the validation set. */
    public static TrainingColumns of(String path, String label) {
        return new TrainingColumns(path, path, label, "");
    }

    /**
     * Checks the schema of a table.
     *
     * @throws IllegalArgumentException if a column is missing or has a wrong type
     */
    public void requireIn(StructType schema) {
        List<String> there = Arrays.asList(schema.fieldNames());
        Stream.concat(Stream.of(image, name, label), Stream.of(validation).filter(column -> !column.isEmpty()))
                .filter(column -> !there.contains(column))
                .findFirst()
                .ifPresent(column -> {
                    throw new IllegalArgumentException(
                            "expected a column '" + column + "', found " + String.join(", ", there));
                });
        ImageCatalog.requireLabels(schema.apply(label));
        DataType type = validation.isEmpty()
                ? DataTypes.BooleanType
                : schema.apply(validation).dataType();
        if (!type.equals(DataTypes.BooleanType)) {
            throw new IllegalArgumentException("expected the column '" + validation
                    + "' to mark validation images by true and false (boolean), found " + type.simpleString());
        }
    }
}
