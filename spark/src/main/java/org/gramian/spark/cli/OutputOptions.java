package org.gramian.spark.cli;

import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.when;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkExecutorInfo;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Observation;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.Output;
import picocli.CommandLine.Option;

/**
 * Options of the output, a new folder. A failed or cancelled job leaves no output: Spark's committer moves the files of tasks out of
 * {@code _temporary} when all are done and writes {@code _SUCCESS}.
 *
 * <p>With a local path on a cluster, every executor writes to its own disk, the committer finds nothing on the disk of the driver,
 * and Spark reports success: rows are counted then. Tasks that keep running after their job was cancelled or failed may write files
 * after the committer has cleaned up: they are awaited.
 */
final class OutputOptions {
    static final String ERROR = "error";

    static final String KIND = "error_kind";

    private static final String IMAGES = "images";
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    private static final Duration BETWEEN_CHECKS = Duration.ofMillis(50);

    @Option(
            names = "--out",
            paramLabel = "PLACE",
            required = true,
            description = "output folder, in any file system; for tables one reachable from executors")
    private String out;

    @Option(
            names = "--overwrite",
            description = "replace existing output; it is removed when the job starts, not when it ends")
    private boolean overwrite;

    /**
     * A written table.
     *
     * @param place of the table
     * @param errorColumn name of the column of errors
     * @param images number of images
     * @param errors number of errors by kind
     * @param time of the job
     */
    record Written(String place, String errorColumn, long images, Map<String, Long> errors, Duration time) {
        long failed() {
            return errors.values().stream().mapToLong(Long::longValue).sum();
        }

        String text() {
            double seconds = Math.max(time.toMillis(), 1) / 1e3;
            String all = String.format(
                    Locale.ROOT, "%s: %,d images in %.1f s, %.1f images/s%n", place, images, seconds, images / seconds);
            String kinds = errors.entrySet().stream()
                    .map(entry -> String.format(Locale.ROOT, "%,d %s", entry.getValue(), entry.getKey()))
                    .collect(Collectors.joining(", "));
            return errors.isEmpty()
                    ? all
                    : all
                            + String.format(
                                    Locale.ROOT,
                                    "%,d of them are unreadable, see column '%s': %s%n",
                                    failed(),
                                    errorColumn,
                                    kinds);
        }
    }

    String place() {
        return out;
    }

    /**
     * Checks the path before any work.
     *
     * @param read input paths
     * @throws IllegalArgumentException if the path exists and must not be replaced, or overlaps an input
     */
    void check(SparkSession session, List<String> read, Consumer<String> log) throws IOException {
        requireFree(session, read);
        if (mayBeLocal(session.sparkContext().master(), new Path(out), hadoop(session))) {
            log.accept("--out: " + out + " is a local path, and "
                    + session.sparkContext().master()
                    + " may have several machines: it must be the same mounted folder on every machine, or results are"
                    + " lost; otherwise use a shared path, e.g. hdfs://host/folder");
        }
    }

    /** Checks a path that only the driver writes. */
    void requireFree(SparkSession session, List<String> read) throws IOException {
        if (overwrite) {
            OutputFolder.requireNoOverlap(out, read, hadoop(session));
        } else {
            OutputFolder.requireMissing(out, hadoop(session));
        }
    }

    OutputFolder begin(SparkSession session) throws IOException {
        return OutputFolder.begin(out, overwrite, hadoop(session));
    }

    private static Configuration hadoop(SparkSession session) {
        return session.sessionState().newHadoopConf();
    }

    /** Returns whether a path may refer to different disks on different machines. */
    static boolean mayBeLocal(String master, Path place, Configuration hadoop) throws IOException {
        String scheme = place.getFileSystem(hadoop).getUri().getScheme();
        return !master.startsWith("local") && OutputFolder.LOCAL_SCHEME.equals(scheme);
    }

    /**
     * Writes rows with a column of error kinds, and counts images and errors meanwhile.
     *
     * @param prefix of the columns of errors
     */
    Written write(Dataset<Row> rows, String prefix, Consumer<String> log) throws IOException, InterruptedException {
        SparkSession session = rows.sparkSession();
        Instant start = Instant.now();
        Observation observation = new Observation("gramian");
        Column kind = ImageColumn.named(prefix + KIND);
        Dataset<Row> observed = rows.observe(
                observation,
                count(lit(1)).as(IMAGES),
                Output.ERROR_KINDS.stream()
                        .map(each -> count(when(kind.equalTo(each), 1)).as(each))
                        .toArray(Column[]::new));
        // fails on an invalid plan before anything is removed
        observed.queryExecution().executedPlan();
        try (RunningJobs _ = RunningJobs.of(session, log, () -> {});
                OutputFolder folder = begin(session)) {
            boolean done = false; // Spark often throws checked exceptions undeclared
            try {
                observed.write().mode(SaveMode.Append).parquet(out);
                done = true;
            } finally {
                if (!done) {
                    awaitTasks(session.sparkContext());
                }
            }
            Map<String, Object> found = observation.getAsJava();
            Map<String, Long> errors = new TreeMap<>();
            Output.ERROR_KINDS.forEach(each -> errors.put(each, (Long) found.getOrDefault(each, 0L)));
            errors.values().removeIf(number -> number == 0);
            long images = (Long) found.getOrDefault(IMAGES, 0L);
            if (mayBeLocal(session.sparkContext().master(), new Path(out), hadoop(session))) {
                requireRows(new Path(out), images, hadoop(session));
            }
            folder.keep();
            return new Written(out, prefix + ERROR, images, errors, Duration.between(start, Instant.now()));
        }
    }

    /**
     * Counts the rows of a table that this machine sees, by the footers of its files.
     *
     * @throws IllegalStateException if they are fewer than were written
     */
    static void requireRows(Path table, long written, Configuration hadoop) throws IOException {
        long seen = 0;
        for (FileStatus file : table.getFileSystem(hadoop).listStatus(table)) {
            if (file.isFile() && file.getPath().getName().endsWith(".parquet")) {
                try (ParquetFileReader reader =
                        ParquetFileReader.open(HadoopInputFile.fromPath(file.getPath(), hadoop))) {
                    seen += reader.getRecordCount();
                }
            }
        }
        if (seen < written) {
            throw new IllegalStateException("expected " + written + " rows in " + table + ", found " + seen
                    + ": executors on other machines wrote to their local disks; use a path that is shared by all"
                    + " machines");
        }
    }

    /** Waits until no task runs, for at most ten seconds. */
    private static void awaitTasks(SparkContext context) {
        long end = System.nanoTime() + LONGEST_WAIT.toNanos();
        try {
            while (System.nanoTime() < end
                    && Arrays.stream(context.statusTracker().getExecutorInfos())
                            .mapToInt(SparkExecutorInfo::numRunningTasks)
                            .anyMatch(tasks -> tasks > 0)) {
                Thread.sleep(BETWEEN_CHECKS);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
