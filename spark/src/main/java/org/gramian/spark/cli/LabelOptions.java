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
import org.gramian.spark.executor.Columns;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say what images are called and which class they belong to. */
final class LabelOptions {
    /** The column of names that {@link #named} makes. */
    static final String NAME = InputOptions.PATH;

    /** Its column of classes. */
    static final String LABEL = "label";

    /** Its column of images. */
    static final String PICTURE = "picture";

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
     * Images in the columns name, label, image and more.
     *
     * @param files whether they were listed, so that their folders are their classes
     * @throws IllegalArgumentException if a column is not there; without a column of classes all images are of one, unless one was
     *     named
     */
    Dataset<Row> named(InputOptions.Images images, boolean files, Column... more) {
        List<Column> columns = new ArrayList<>();
        columns.add(found(name, images).cast(DataTypes.StringType).as(NAME));
        columns.add(owner(images, files).cast(DataTypes.StringType).as(LABEL));
        columns.add(found(images.column(), images).as(PICTURE));
        columns.addAll(List.of(more));
        return images.rows().select(columns.toArray(Column[]::new));
    }

    /** Whether classes are known: of files always, of a table if it has the column. */
    boolean known(InputOptions.Images images, boolean files) {
        return files || label != null || List.of(images.rows().columns()).contains(LABEL);
    }

    private Column owner(InputOptions.Images images, boolean files) {
        if (label != null) {
            return found(label, images);
        }
        if (files) {
            return element_at(split(col(InputOptions.PATH), "/"), -2);
        }
        return known(images, false) ? found(LABEL, images) : lit("all");
    }

    /**
     * A column of the table.
     *
     * @throws IllegalArgumentException if it is not there
     */
    static Column found(String wanted, InputOptions.Images images) {
        List<String> columns = List.of(images.rows().columns());
        if (!columns.contains(wanted)) {
            throw new IllegalArgumentException("expected a column '" + wanted + "', found the columns "
                    + String.join(", ", columns) + "; set others with --name-column, --label-column and --column");
        }
        return Columns.named(wanted);
    }
}
