package org.gramian.spark.cli;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.train.LateTasks;
import org.gramian.spark.train.LocalPathCheck;
import picocli.CommandLine.Option;

/**
 * Where the table of results goes: a new folder of Parquet files, whole or not at all.
 *
 * <p>Spark's committer keeps what tasks write below {@code _temporary}, out of readers' sight, and moves it to its place when all
 * are done; then it writes {@code _SUCCESS}. A job that fails or is stopped leaves nothing: what is there of it is removed.
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
     * Looks before any work is done.
     *
     * @param read the places that are read
     * @throws IllegalArgumentException if something is there that is not to be replaced, or that is read
     */
    void check(SparkSession session, List<String> read, Console console) throws IOException {
        Configuration hadoop = session.sessionState().newHadoopConf();
        if (overwrite) {
            Overlap.refuse(out, read, hadoop);
        } else {
            NewFolder.requireNothing(out, hadoop);
        }
        LocalPathCheck.warn(session, out, sentence -> console.say("--out: " + sentence));
    }

    /** Writes rows with a column of error kinds, and returns the counters. */
    ImageCounters.Counted write(ImageCounters tally, Dataset<Row> rows, Console console)
            throws IOException, InterruptedException {
        SparkSession session = rows.sparkSession();
        Configuration hadoop = session.sessionState().newHadoopConf();
        Dataset<Row> watched = tally.watched(rows);
        // What cannot be planned fails here, before anything is removed.
        watched.queryExecution().executedPlan();
        try (JobProgress _ = JobProgress.of(session, console, "", "images");
                Interruption _ = Interruption.of(session);
                NewFolder folder = NewFolder.begin(out, overwrite, hadoop)) {
            // The folder is there, with nothing but a mark; it is removed after a failure, when nobody writes there any
            // more.
            LateTasks.outlived(
                    session.sparkContext(),
                    () -> watched.write().mode(SaveMode.Append).parquet(out));
            ImageCounters.Counted counted = tally.counted();
            if (LocalPathCheck.isDoubtful(session, out)) {
                LocalPathCheck.requireRows(new Path(out), counted.images(), hadoop);
            }
            folder.keep();
            return counted;
        }
    }

    /** Writes rows with a column of error kinds, prints the counters, and returns the exit code. */
    int finish(ImageCounters tally, Dataset<Row> rows, Console console) throws IOException, InterruptedException {
        ImageCounters.Counted counted = write(tally, rows, console);
        console.out().print(counted.text(out));
        console.out().flush();
        return counted.failed() == 0 ? Main.DONE : Main.DATA;
    }
}
