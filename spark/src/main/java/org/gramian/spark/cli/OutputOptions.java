package org.gramian.spark.cli;

import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;

import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkExecutorInfo;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Observation;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.executor.ImageColumn;
import picocli.CommandLine.Option;

/**
 * Options of the output, a new folder. A failed or cancelled job leaves no output: Spark's committer moves the files of tasks out of
 * {@code _temporary} when all are done and writes {@code _SUCCESS}.
 *
 * <p>With a local path on a cluster, every executor writes to its own disk, the committer finds nothing on the disk of the driver,
 * and Spark reports success: rows are counted then.
 */
final class OutputOptions {
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

    record Written(String text, long failed) {}

    String place() {
        return out;
    }

    /** Checks the path before any work. */
    void check(List<String> read, Configuration hadoop) throws IOException {
        if (overwrite) {
            requireApart(out, read, hadoop);
        } else if (new Path(out).getFileSystem(hadoop).exists(new Path(out))) {
            throw occupied(out);
        }
    }

    private static IllegalArgumentException occupied(String place) {
        return new IllegalArgumentException(
                "--out: expected a path that does not exist, found " + place + "; choose another, or use --overwrite");
    }

    /**
     * Checks that a replaced folder, which is removed first, does not overlap the inputs. Does not check images that the rows of a
     * table name.
     */
    static void requireApart(String replaced, List<String> read, Configuration hadoop) throws IOException {
        String target = real(new Path(replaced), hadoop);
        for (String place : read) {
            for (FileStatus found : SparkInputOptions.find(place, hadoop)) {
                String input = real(found.getPath(), hadoop);
                if (input.startsWith(target) || target.startsWith(input)) {
                    throw new IllegalArgumentException("--out: expected a path outside the input, found " + replaced
                            + ", and " + place + " as input: --overwrite would remove it; choose another path");
                }
            }
        }
    }

    /** Returns the full path with a slash at the end; for local files, with links resolved as far as the path exists. */
    private static String real(Path place, Configuration hadoop) throws IOException {
        Path whole = place.getFileSystem(hadoop).makeQualified(place);
        return (isLocal(whole, hadoop) ? new File(whole.toUri().getPath()).getCanonicalPath() : whole) + "/";
    }

    private static boolean isLocal(Path place, Configuration hadoop) throws IOException {
        return "file".equals(place.getFileSystem(hadoop).getUri().getScheme());
    }

    /** Writes files into the output folder. */
    @FunctionalInterface
    interface Writing<T> {
        T write() throws IOException, InterruptedException;
    }

    /** Writes into the new output folder, and removes it if that fails. */
    <T> T write(Configuration hadoop, Writing<T> writing) throws IOException, InterruptedException {
        Path folder = new Path(out);
        FileSystem files = folder.getFileSystem(hadoop);
        if (overwrite) {
            files.delete(folder, true);
        } else if (files.exists(folder)) {
            throw occupied(out);
        }
        boolean written = false; // Spark often throws checked exceptions undeclared
        try {
            T result = writing.write();
            written = true;
            return result;
        } finally {
            if (!written) {
                files.delete(folder, true);
            }
        }
    }

    /** Writes rows as Parquet, and counts images and errors meanwhile. */
    Written write(Dataset<Row> rows, String errorColumn, SparkCommand command)
            throws IOException, InterruptedException {
        SparkSession session = rows.sparkSession();
        SparkContext context = session.sparkContext();
        Configuration hadoop = session.sessionState().newHadoopConf();
        boolean mayBeLost = !context.master().startsWith("local") && isLocal(new Path(out), hadoop);
        if (mayBeLost) {
            command.log("--out: " + out + " is a local path, and " + context.master()
                    + " may have several machines: use a folder that all of them share, e.g. hdfs://host/folder");
        }
        Instant start = Instant.now();
        Observation observation = new Observation("gramian");
        Dataset<Row> observed = rows.observe(
                observation,
                count(lit(1)).as("images"),
                count(ImageColumn.named(errorColumn)).as("errors"));
        // fails on an invalid plan before anything is removed
        observed.queryExecution().executedPlan();
        try (var _ = SparkCommand.cancelOnSignal(context, () -> {})) {
            write(hadoop, () -> {
                boolean written = false;
                try {
                    observed.write().parquet(out);
                    written = true;
                } finally {
                    if (!written) {
                        awaitTasks(context);
                    }
                }
                return out;
            });
            long images = (Long) observation.getAsJava().getOrDefault("images", 0L);
            long errors = (Long) observation.getAsJava().getOrDefault("errors", 0L);
            if (mayBeLost) {
                requireRows(session.read().schema(rows.schema()).parquet(out).count(), images, out);
            }
            double seconds = Math.max(1, Duration.between(start, Instant.now()).toMillis()) / 1e3;
            return new Written(
                    String.format(
                                    Locale.ROOT,
                                    "%s: %,d images in %.1f s, %.1f images/s%n",
                                    out,
                                    images,
                                    seconds,
                                    images / seconds)
                            + (errors == 0
                                    ? ""
                                    : String.format(
                                            Locale.ROOT,
                                            "%,d of them are unreadable, see column '%s'%n",
                                            errors,
                                            errorColumn)),
                    errors);
        }
    }

    /** Throws if this machine sees fewer rows of a table than were written. */
    private static void requireRows(long seen, long written, String table) {
        if (seen < written) {
            throw new IllegalStateException("expected " + written + " rows in " + table + ", found " + seen
                    + ": executors on other machines wrote to their local disks; use a path that is shared by all"
                    + " machines");
        }
    }

    /** Waits at most ten seconds until no task runs: one of a cancelled job may write files after the committer has cleaned up. */
    private static void awaitTasks(SparkContext context) throws InterruptedException {
        Instant end = Instant.now().plus(LONGEST_WAIT);
        while (Instant.now().isBefore(end)
                && Arrays.stream(context.statusTracker().getExecutorInfos())
                        .mapToInt(SparkExecutorInfo::numRunningTasks)
                        .anyMatch(tasks -> tasks > 0)) {
            Thread.sleep(BETWEEN_CHECKS);
        }
    }
}
