package org.gramian.spark.cli;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Option;

/**
 * Where the table of results goes: a new folder of Parquet files, whole or not at all.
 *
 * <p>Spark's committer keeps what tasks write below {@code _temporary}, out of readers' sight, and moves it to its place when all
 * are done; then it writes {@code _SUCCESS}. A job that fails or is stopped leaves nothing: what is there of it is removed here.
 */
final class OutputOptions {
    @Option(
            names = "--out",
            paramLabel = "PLACE",
            required = true,
            description = "the folder to write, of Parquet files, in any file system that executors reach")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String out;

    @Option(
            names = "--overwrite",
            description = "replace what is there; it is removed when the work begins, not when it ends")
    private boolean overwrite;

    String place() {
        return out;
    }

    /**
     * Looks before any work is done.
     *
     * @throws IllegalArgumentException if something is there that is not to be replaced
     */
    void check(SparkSession session) throws IOException {
        Path folder = new Path(out);
        if (!overwrite && files(session).exists(folder)) {
            throw new IllegalArgumentException(
                    "--out: expected a place with nothing there, found " + out + "; choose another, or --overwrite");
        }
    }

    /** Writes rows. */
    void write(Dataset<Row> rows, Console console) throws IOException {
        SparkSession session = rows.sparkSession();
        boolean written = false;
        try (JobProgress _ = JobProgress.of(session, console);
                Interruption _ = Interruption.of(session)) {
            try {
                rows.write()
                        .mode(overwrite ? SaveMode.Overwrite : SaveMode.ErrorIfExists)
                        .parquet(out);
                written = true;
            } finally {
                if (!written) {
                    removeHalf(session);
                }
            }
        }
    }

    /** Writes rows with a column of kinds of errors, says what was counted on the way, and gives the exit code. */
    int finish(Tally tally, Dataset<Row> rows, Console console) throws IOException, InterruptedException {
        write(tally.watched(rows), console);
        Tally.Counted counted = tally.counted();
        console.out().print(counted.text(out));
        console.out().flush();
        return counted.failed() == 0 ? Main.DONE : Main.DATA;
    }

    private void removeHalf(SparkSession session) throws IOException {
        Path folder = new Path(out);
        FileSystem files = files(session);
        try {
            if (!files.exists(new Path(folder, "_SUCCESS"))) {
                files.delete(folder, true);
            }
        } catch (FileNotFoundException _) {
            // nothing was begun
        }
    }

    private FileSystem files(SparkSession session) throws IOException {
        return new Path(out).getFileSystem(session.sessionState().newHadoopConf());
    }
}
