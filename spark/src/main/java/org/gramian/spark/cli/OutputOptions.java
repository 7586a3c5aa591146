package org.gramian.spark.cli;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.train.ClusterOutput;
import picocli.CommandLine.Option;

/**
 * Options of the output table, a new folder of Parquet files. A failed or cancelled job leaves no output: Spark's committer moves the
 * files of tasks out of {@code _temporary} when all are done and writes {@code _SUCCESS}.
 */
final class OutputOptions {
    @Option(
            names = "--out",
            paramLabel = "PLACE",
            required = true,
            description = "output folder of Parquet files, in any file system reachable from executors")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String out;

    @Option(
            names = "--overwrite",
            description = "replace existing output; it is removed when the job starts, not when it ends")
    private boolean overwrite;

    String place() {
        return out;
    }

    /**
     * Checks the path before any work.
     *
     * @param read input paths
     * @throws IllegalArgumentException if the path exists and must not be replaced, or overlaps an input
     */
    void check(SparkSession session, List<String> read, SparkApplication application) throws IOException {
        Configuration hadoop = session.sessionState().newHadoopConf();
        if (overwrite) {
            OutputFolder.requireNoOverlap(out, read, hadoop);
        } else {
            OutputFolder.requireMissing(out, hadoop);
        }
        ClusterOutput.warn(session, out, sentence -> application.log("--out: " + sentence));
    }

    /** Writes rows with a column of error kinds, and returns the counters. */
    ImageCounters.Counted write(ImageCounters counters, Dataset<Row> rows, SparkApplication application)
            throws IOException, InterruptedException {
        SparkSession session = rows.sparkSession();
        Configuration hadoop = session.sessionState().newHadoopConf();
        Dataset<Row> observed = counters.observed(rows);
        // fails on an invalid plan before anything is removed
        observed.queryExecution().executedPlan();
        try (JobProgress _ = JobProgress.of(session, application, "", "images");
                JobCancellation _ = JobCancellation.of(session);
                OutputFolder folder = OutputFolder.begin(out, overwrite, hadoop)) {
            // After a failure the folder is removed, once no task writes to it any more.
            ClusterOutput.runAndAwaitTasks(
                    session.sparkContext(),
                    () -> observed.write().mode(SaveMode.Append).parquet(out));
            ImageCounters.Counted counted = counters.counted();
            if (ClusterOutput.mayBeLocal(session, out)) {
                ClusterOutput.requireRows(new Path(out), counted.images(), hadoop);
            }
            folder.keep();
            return counted;
        }
    }

    /** Writes rows with a column of error kinds, prints the counters, and returns the exit code. */
    int finish(ImageCounters counters, Dataset<Row> rows, SparkApplication application)
            throws IOException, InterruptedException {
        ImageCounters.Counted counted = write(counters, rows, application);
        application.out().print(counted.text(out));
        application.out().flush();
        return counted.failed() == 0 ? SparkMain.DONE : SparkMain.DATA;
    }
}
