package org.gramian.spark.cli;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.element_at;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.split;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.gramian.spark.executor.ImageColumn;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for names and labels of images. */
final class LabelOptions {
    /** Column of names of {@link #named}. */
    static final String NAME = InputOptions.PATH;

    /** Column of labels of {@link #named}. */
    static final String LABEL = "label";

    /** Column of images of {@link #named}. */
    static final String IMAGE = "image";

    @Option(
            names = "--label-column",
            paramLabel = "NAME",
            description =
                    "the column of a table that holds classes (default: label; for files the class is the folder)")
    private @Nullable String label;

    @Option(
            names = "--name-column", // not --name, which is spark-submit's
            paramLabel = "NAME",
            defaultValue = InputOptions.PATH,
            description = "the column of a table that holds unique image names (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String name;

    /**
     * Returns images in the columns name, label, image and more. Without a column of labels, all images get one label.
     *
     * @throws IllegalArgumentException if a column is missing
     */
    Dataset<Row> named(InputOptions.Images images, Column... more) {
        List<Column> columns = new ArrayList<>();
        columns.add(found(name, images).cast(DataTypes.StringType).as(NAME));
        columns.add(label(images).cast(DataTypes.StringType).as(LABEL));
        columns.add(found(images.column(), images).as(IMAGE));
        columns.addAll(List.of(more));
        return images.rows().select(columns.toArray(Column[]::new));
    }

    /** Returns whether there are labels: for files always, for a table if it has the column. */
    boolean exist(InputOptions.Images images) {
        return images.files()
                || label != null
                || List.of(images.rows().columns()).contains(LABEL);
    }

    private Column label(InputOptions.Images images) {
        if (label != null) {
            return found(label, images);
        }
        if (images.files()) {
            return element_at(split(col(InputOptions.PATH), "/"), -2);
        }
        return exist(images) ? found(LABEL, images) : lit("all");
    }

    /**
     * Returns a column of the table.
     *
     * @throws IllegalArgumentException if it is missing
     */
    static Column found(String wanted, InputOptions.Images images) {
        List<String> columns = List.of(images.rows().columns());
        if (!columns.contains(wanted)) {
            throw new IllegalArgumentException("expected a column '" + wanted + "', found the columns "
                    + String.join(", ", columns) + "; set others with --name-column, --label-column and --column");
        }
        return ImageColumn.named(wanted);
    }
}
