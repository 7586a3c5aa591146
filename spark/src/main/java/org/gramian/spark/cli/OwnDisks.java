package org.gramian.spark.cli;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.sql.SparkSession;

/**
 * What is wrong with paths of one machine on a cluster: every executor writes to the disk of its own, Spark's committer finds nothing
 * on the driver's, and the job is called a success.
 */
final class OwnDisks {
    /** Of paths on the machine that opens them. */
    static final String SCHEME = "file";

    private OwnDisks() {}

    /** Whether a place may be another one on every machine. */
    static boolean isDoubtful(String master, Path place, Configuration hadoop) throws IOException {
        String scheme = place.getFileSystem(hadoop).getUri().getScheme();
        return !master.startsWith("local") && SCHEME.equals(scheme);
    }

    /** Says so before the work, where it is so. */
    static void warn(SparkSession session, String place, Console console) throws IOException {
        String master = session.sparkContext().master();
        if (isDoubtful(master, new Path(place), session.sessionState().newHadoopConf())) {
            console.say("--out: " + place + " is a path of each machine, and " + master
                    + " may have several: every machine must see this path as the same folder (a mounted one), or results are"
                    + " lost; otherwise name one that all reach, as hdfs://host/folder");
        }
    }

    /**
     * Counts the rows of a table that this machine sees, by the ends of its files.
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
            throw new IllegalStateException(
                    "expected " + written + " rows in " + table + ", found " + seen
                            + ": executors on other machines wrote to disks of their own; name a place that every machine reaches");
        }
    }
}
