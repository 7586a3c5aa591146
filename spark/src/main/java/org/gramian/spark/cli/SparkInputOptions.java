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
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.gramian.image.ImageFormat;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.layout.DatasetLayout.Flat;
import org.gramian.spark.executor.ImageColumn;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the input: files, or a table of images. */
final class SparkInputOptions {
    private static final String PATH = "path";
    private static final String LABEL = "label";
    private static final String FILES = "files";

    private static final int MIN_TASK_IMAGES = 32;

    /** Most images of a task: limits lost work, and leaves tasks for new executors. */
    private static final int MAX_TASK_IMAGES = 512;

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
                    + MIN_TASK_IMAGES + " to " + MAX_TASK_IMAGES + " images)")
    private @Nullable Integer partitions;

    /**
     * Images as a table.
     *
     * @param rows input columns and images; for files their path and, as label, the name of their folder
     */
    record Images(Dataset<Row> rows, String column, List<String> kept) {
        boolean has(String wanted) {
            return List.of(rows.columns()).contains(wanted);
        }

        /** Returns a column of the table; throws if it is missing. */
        Column named(String wanted) {
            if (!has(wanted)) {
                throw new IllegalArgumentException("expected a column '" + wanted + "', found the columns "
                        + String.join(", ", rows.columns())
                        + "; set others with --name-column, --label-column and --column");
            }
            return ImageColumn.named(wanted);
        }
    }

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

    Images read(SparkSession session, List<String> places, Consumer<String> log) throws IOException {
        if (isFiles()) {
            JavaSparkContext spark = JavaSparkContext.fromSparkContext(session.sparkContext());
            List<String> files = list(places, session.sessionState().newHadoopConf(), log);
            int perTask = Math.clamp(
                    Math.ceilDiv(files.size(), 4 * spark.defaultParallelism()), MIN_TASK_IMAGES, MAX_TASK_IMAGES);
            int tasks = partitions == null ? Math.ceilDiv(files.size(), perTask) : partitions;
            Dataset<Row> rows = session.createDataset(
                            spark.parallelize(files, tasks).rdd(), Encoders.STRING())
                    .toDF(PATH);
            return new Images(rows.withColumn(LABEL, element_at(split(col(PATH), "/"), -2)), PATH, List.of(PATH));
        }
        Dataset<Row> table =
                session.read().format(format == null ? "parquet" : format).load(places.toArray(String[]::new));
        String images = column == null ? "content" : column;
        List<String> kept = Arrays.stream(table.schema().fields())
                .filter(field ->
                        !field.name().equals(images) || !field.dataType().equals(DataTypes.BinaryType))
                .map(field -> field.name())
                .toList();
        return new Images(partitions == null ? table : table.repartition(partitions), images, kept);
    }

    static final class LabelOptions {
        @Option(
                names = "--label-column",
                paramLabel = "NAME",
                defaultValue = LABEL,
                description = "the column of a table that holds classes (default: ${DEFAULT-VALUE}; for files the class"
                        + " is the folder)")
        private String label;

        @Option(
                names = "--name-column", // not --name, which is spark-submit's
                paramLabel = "NAME",
                defaultValue = PATH,
                description = "the column of a table that holds unique image names (default: ${DEFAULT-VALUE})")
        private String name;

        /** Returns images in the columns path, label, image and more; throws if a column is missing. */
        Dataset<Row> named(Images images, Column... more) {
            List<Column> columns = new ArrayList<>();
            columns.add(images.named(name).cast(DataTypes.StringType).as(PATH));
            columns.add(images.named(label).cast(DataTypes.StringType).as(LABEL));
            columns.add(images.named(images.column()).as("image"));
            columns.addAll(List.of(more));
            return images.rows().select(columns.toArray(Column[]::new));
        }

        /** Returns the same, with one label for all images of a table without the default column of labels. */
        Dataset<Row> namedOrUnlabelled(Images images) {
            return named(
                    label.equals(LABEL) && !images.has(LABEL)
                            ? new Images(images.rows().withColumn(LABEL, lit("all")), images.column(), images.kept())
                            : images);
        }
    }

    /**
     * Lists images of files, folders (at any depth) and glob patterns, as {@code photos/2024-*}, in any Hadoop file system. Spark's own
     * {@code binaryFile} omits empty files, which here are rows with an error.
     *
     * @param log receives remarks on skipped files
     * @return full paths; those of a folder sorted
     */
    static List<String> list(List<String> places, Configuration hadoop, Consumer<String> log) throws IOException {
        List<String> images = new ArrayList<>();
        for (String place : places) {
            for (FileStatus found : find(place, hadoop)) {
                Path path = found.getPath();
                FileSystem files = path.getFileSystem(hadoop);
                if (found.isFile()) {
                    images.add(path.toString());
                } else if (files instanceof LocalFileSystem local) {
                    // As on one machine: Hadoop would skip broken links, and start a process for each file's
                    // permissions.
                    var inside = new Flat().read(local.pathToFile(path).toPath());
                    inside.samples().forEach(sample -> images.add("file:" + sample.file()));
                    inside.notes().stream().map(Note::text).forEach(log);
                } else {
                    images.addAll(listRemote(path, files, log));
                }
            }
        }
        return images;
    }

    /** Resolves a place: a file of that very name comes first, since names may contain pattern characters. */
    static List<FileStatus> find(String place, Configuration hadoop) throws IOException {
        Path path = new Path(place);
        FileSystem files = path.getFileSystem(hadoop);
        if (files.exists(path)) {
            return List.of(files.getFileStatus(path));
        }
        FileStatus[] matched = files.globStatus(path);
        if (matched == null || matched.length == 0) {
            throw new FileNotFoundException(place + ": no such file or folder, and no match as a pattern");
        }
        return List.of(matched);
    }

    /** Lists recursively in one call, which object stores answer a thousand names at a time. */
    private static List<String> listRemote(Path folder, FileSystem files, Consumer<String> log) throws IOException {
        List<String> images = new ArrayList<>();
        long others = 0;
        RemoteIterator<LocatedFileStatus> all = files.listFiles(folder, true);
        while (all.hasNext()) {
            Path file = all.next().getPath();
            if (ImageFormat.isImage(file.getName()) && !inHiddenFolder(file, folder)) {
                images.add(file.toString());
            } else {
                others++;
            }
        }
        if (images.isEmpty()) {
            throw new FileNotFoundException(folder + ": expected images in this folder or below it, found none, and "
                    + others + " other files");
        }
        if (others > 0) {
            log.accept(String.format(
                    Locale.ROOT,
                    "%,d files were skipped: hidden, or without an image extension; a table of paths can name any file",
                    others));
        }
        Collections.sort(images);
        return images;
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
