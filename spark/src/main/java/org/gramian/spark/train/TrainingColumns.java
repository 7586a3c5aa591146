package org.gramian.spark.train;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Which columns of a table say what of labelled images.
 *
 * @param image its bytes (binary), or its path (string) in any file system that executors reach
 * @param name of the image, a string, each its own: decides the order of all images and where random crops lie
 * @param label of its class: a name (string), or the index of the class (a number), whose name may stand in the column's metadata as
 *     {@code StringIndexer} writes it
 * @param heldBack whether it judges epochs instead of being learned from (boolean); empty where a share is to be chosen for that
 */
public record TrainingColumns(String image, String name, String label, String heldBack) {
    /** Images by their paths, which are their names; a share is chosen to judge epochs. */
    public static TrainingColumns of(String path, String label) {
        return new TrainingColumns(path, path, label, "");
    }

    /**
     * Looks for the columns in a table's schema.
     *
     * @throws IllegalArgumentException if one is missing, or cannot hold what it should
     */
    public void requireIn(StructType schema) {
        List<String> there = Arrays.asList(schema.fieldNames());
        Stream.concat(Stream.of(image, name, label), Stream.of(heldBack).filter(column -> !column.isEmpty()))
                .filter(column -> !there.contains(column))
                .findFirst()
                .ifPresent(column -> {
                    throw new IllegalArgumentException(
                            "expected a column '" + column + "', found " + String.join(", ", there));
                });
        Classes.requireLabels(schema.apply(label));
        DataType held = heldBack.isEmpty()
                ? DataTypes.BooleanType
                : schema.apply(heldBack).dataType();
        if (!held.equals(DataTypes.BooleanType)) {
            throw new IllegalArgumentException("expected the column '" + heldBack
                    + "' to mark validation images by true and false (boolean), found " + held.simpleString());
        }
    }
}
