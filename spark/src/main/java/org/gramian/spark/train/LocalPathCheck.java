package org.gramian.spark.train;

import java.io.IOException;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.sql.SparkSession;

/**
 * Check for local paths on a cluster: every executor writes to its own disk, the committer finds nothing on the disk of the driver,
 * and Spark reports success.
 */
public final class LocalPathCheck {
    /** URI scheme of local paths. */
    public static final String SCHEME = "file";

    /** Most likely reason of missing rows. */
    static final String WHY =
            "executors on other machines wrote to their local disks; use a path that is shared by all machines";

    private LocalPathCheck() {}

    /** Returns whether a path may refer to different disks on different machines. */
    public static boolean isDoubtful(SparkSession session, String place) throws IOException {
        return isDoubtful(
                session.sparkContext().master(),
                new Path(place),
                session.sessionState().newHadoopConf());
    }

    static boolean isDoubtful(String master, Path place, Configuration hadoop) throws IOException {
        String scheme = place.getFileSystem(hadoop).getUri().getScheme();
        return !master.startsWith("local") && SCHEME.equals(scheme);
    }

    /** Warns about a local path before the work. */
    public static void warn(SparkSession session, String place, Consumer<String> warnings) throws IOException {
        if (isDoubtful(session, place)) {
            warnings.accept(place + " is a local path, and "
                    + session.sparkContext().master()
                    + " may have several machines: it must be the same mounted folder on every machine, or results are"
                    + " lost; otherwise use a shared path, e.g. hdfs://host/folder");
        }
    }

    /**
     * Counts the rows of a table that this machine sees, by the ends of its files.
     *
     * @throws IllegalStateException if they are fewer than were written
     */
    public static void requireRows(Path table, long written, Configuration hadoop) throws IOException {
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
                    "expected " + written + " rows in " + table + ", found " + seen + ": " + WHY);
        }
    }
}
