package org.gramian.spark.cli;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.element_at;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.split;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.gramian.image.ImageFormat;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.DatasetLayout.Flat;
import org.gramian.spark.executor.ImageColumn;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the input: files, or a table of images. */
final class SparkInputOptions {
    /** Column of paths if the input is files. */
    static final String PATH = "path";

    private static final String FILES = "files";

    /** Least images of a task. */
    private static final int LEAST_TASK_IMAGES = 32;

    /** Most images of a task: limits lost work, and leaves tasks for new executors. */
    private static final int MOST_TASK_IMAGES = 512;

    /** More tasks would slow down the driver; tasks get larger instead. */
    private static final int MOST_TASKS = 20_000;

    @Option(
            names = "--input",
            paramLabel = "FORMAT",
            description = {
                "files: the inputs are images, folders or glob patterns as 'photos/2024-*'; or the format of a table:",
                "parquet, orc, json, or delta if Delta is on the class path (default: parquet with --column, else"
                        + " files)"
            })
    private @Nullable String format;

    @Option(
            names = "--column",
            paramLabel = "NAME",
            description = "the column of a table that holds images, as bytes or paths (default: content)")
    private @Nullable String column;

    @Option(
            names = "--partitions",
            paramLabel = "N",
            description = "number of tasks (default: Spark's own for a table; for files four per core, of "
                    + LEAST_TASK_IMAGES + " to " + MOST_TASK_IMAGES + " images, and at most " + MOST_TASKS + " tasks)")
    private @Nullable Integer partitions;

    /**
     * Images as a table.
     *
     * @param rows input columns and images
     * @param column of images
     * @param kept columns of the output
     * @param files whether files were listed, so that their folders are their classes
     */
    record Images(Dataset<Row> rows, String column, List<String> kept, boolean files) {
        /**
         * Returns a column of the table.
         *
         * @throws IllegalArgumentException if it is missing
         */
        Column named(String wanted) {
            if (!has(wanted)) {
                throw new IllegalArgumentException("expected a column '" + wanted + "', found the columns "
                        + String.join(", ", rows.columns())
                        + "; set others with --name-column, --label-column and --column");
            }
            return ImageColumn.named(wanted);
        }

        boolean has(String wanted) {
            return List.of(rows.columns()).contains(wanted);
        }
    }

    /** Throws if options contradict each other. */
    void check() {
        if (partitions != null && partitions < 1) {
            throw new IllegalArgumentException("--partitions: expected at least 1, found " + partitions);
        }
        if (isFiles() && column != null) {
            throw new IllegalArgumentException(
                    "--column applies to tables: remove it, or set the table's format with --input");
        }
    }

    private boolean isFiles() {
        return format == null ? column == null : format.equals(FILES);
    }

    /**
     * Reads the table or lists the files.
     *
     * @throws IOException if places cannot be listed or are empty
     */
    Images read(SparkSession session, List<String> places, Consumer<String> log) throws IOException {
        return isFiles() ? files(session, places, log) : table(session, places);
    }

    private Images files(SparkSession session, List<String> places, Consumer<String> log) throws IOException {
        FileListing listing = FileListing.of(places, session.sessionState().newHadoopConf());
        listing.remarks().forEach(log);
        JavaSparkContext spark = JavaSparkContext.fromSparkContext(session.sparkContext());
        int slices = slices(listing.images().size(), spark.defaultParallelism());
        StructType schema = new StructType().add(PATH, DataTypes.StringType, false);
        return new Images(
                session.createDataFrame(
                        spark.parallelize(listing.images(), slices).map(RowFactory::create), schema),
                PATH,
                List.of(PATH),
                true);
    }

    private int slices(int images, int cores) {
        if (partitions != null) {
            return partitions;
        }
        int most = Math.max(MOST_TASK_IMAGES, Math.ceilDiv(images, MOST_TASKS));
        int each = Math.clamp(Math.ceilDiv(images, 4 * cores), LEAST_TASK_IMAGES, most);
        return Math.ceilDiv(images, each);
    }

    private Images table(SparkSession session, List<String> places) {
        Dataset<Row> rows =
                session.read().format(format == null ? "parquet" : format).load(places.toArray(String[]::new));
        Dataset<Row> partitioned = partitions == null ? rows : rows.repartition(partitions);
        String images = column == null ? "content" : column;
        return new Images(partitioned, images, withoutBytes(rows, images), false);
    }

    private static List<String> withoutBytes(Dataset<Row> rows, String images) {
        return Arrays.stream(rows.columns())
                .filter(name -> !name.equals(images)
                        || !rows.schema().apply(name).dataType().equals(DataTypes.BinaryType))
                .toList();
    }

    /** Options for names and labels of images. */
    static final class LabelOptions {
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
                defaultValue = PATH,
                description = "the column of a table that holds unique image names (default: ${DEFAULT-VALUE})")
        private String name;

        /**
         * Returns images in the columns path, label, image and more. Without a column of labels, all images get one label.
         *
         * @throws IllegalArgumentException if a column is missing
         */
        Dataset<Row> named(Images images, Column... more) {
            List<Column> columns = new ArrayList<>();
            columns.add(images.named(name).cast(DataTypes.StringType).as(PATH));
            columns.add(label(images).cast(DataTypes.StringType).as(LABEL));
            columns.add(images.named(images.column()).as(IMAGE));
            columns.addAll(List.of(more));
            return images.rows().select(columns.toArray(Column[]::new));
        }

        /** Returns whether there are labels: for files always, for a table if it has the column. */
        boolean exist(Images images) {
            return images.files() || label != null || images.has(LABEL);
        }

        private Column label(Images images) {
            if (label != null) {
                return images.named(label);
            }
            if (images.files()) {
                return element_at(split(col(PATH), "/"), -2);
            }
            return exist(images) ? images.named(LABEL) : lit("all");
        }
    }

    /**
     * Images of files, folders (at any depth) and glob patterns, as {@code photos/2024-*}, in any Hadoop file system. Spark's own {@code
     * binaryFile} omits empty files, which here are rows with an error.
     *
     * @param images full paths; those of a folder sorted
     * @param remarks sentences about skipped files
     */
    record FileListing(List<String> images, List<String> remarks) {
        /**
         * Lists places.
         *
         * @throws IOException if a place does not exist, or a folder has no image
         */
        static FileListing of(List<String> places, Configuration hadoop) throws IOException {
            FileListing listing = new FileListing(new ArrayList<>(), new ArrayList<>());
            for (String place : places) {
                for (FileStatus found : found(place, hadoop)) {
                    if (found.isFile()) {
                        listing.images.add(found.getPath().toString());
                    } else {
                        listing.addFolder(found.getPath(), hadoop);
                    }
                }
            }
            return new FileListing(
                    Collections.unmodifiableList(listing.images), Collections.unmodifiableList(listing.remarks));
        }

        /** Resolves a place: a file of that very name comes first, since names may contain pattern characters. */
        private static FileStatus[] found(String place, Configuration hadoop) throws IOException {
            Path path = new Path(place);
            FileSystem files = path.getFileSystem(hadoop);
            if (files.exists(path)) {
                return new FileStatus[] {files.getFileStatus(path)};
            }
            FileStatus[] matched = files.globStatus(path);
            if (matched == null || matched.length == 0) {
                throw new FileNotFoundException(place + ": no such file or folder, and no match as a pattern");
            }
            return matched;
        }

        private void addFolder(Path folder, Configuration hadoop) throws IOException {
            FileSystem files = folder.getFileSystem(hadoop);
            if (files instanceof LocalFileSystem local) {
                addLocal(local.pathToFile(folder).toPath());
            } else {
                addRemote(folder, files);
            }
        }

        /** Lists as on one machine: Hadoop would skip broken links, and start a process for the permissions of each file. */
        private void addLocal(java.nio.file.Path folder) throws IOException {
            var inside = new Flat().read(folder);
            for (Sample sample : inside.samples()) {
                images.add(new Path("file", null, sample.file().toString()).toString());
            }
            inside.notes().stream().map(Note::text).forEach(remarks::add);
        }

        /** Lists recursively in one call, which object stores answer a thousand names at a time. */
        private void addRemote(Path folder, FileSystem files) throws IOException {
            List<String> inside = new ArrayList<>();
            long others = 0;
            RemoteIterator<LocatedFileStatus> all = files.listFiles(folder, true);
            while (all.hasNext()) {
                Path file = all.next().getPath();
                if (ImageFormat.isImage(file.getName()) && !inHiddenFolder(file, folder)) {
                    inside.add(file.toString());
                } else {
                    others++;
                }
            }
            if (inside.isEmpty()) {
                throw new FileNotFoundException(folder
                        + ": expected images in this folder or below it, found none, and " + others + " other files");
            }
            if (others > 0) {
                remarks.add(String.format(
                        Locale.ROOT,
                        "%,d files were skipped: hidden, or without an image extension; a table of paths can name any file",
                        others));
            }
            Collections.sort(inside);
            images.addAll(inside);
        }

        private static boolean inHiddenFolder(Path file, Path top) {
            Path at = file.getParent();
            while (at != null && at.depth() > top.depth()) {
                if (ImageFormat.isHidden(at.getName())) {
                    return true;
                }
                at = at.getParent();
            }
            return false;
        }
    }
}
