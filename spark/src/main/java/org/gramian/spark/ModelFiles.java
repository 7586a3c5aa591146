package org.gramian.spark;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.gramian.model.ModelFileException;
import org.gramian.spark.executor.ModelContent;

/** Reads model files from any file system that Hadoop knows. */
final class ModelFiles {
    /** A broadcast is one array; models are some tens of megabytes. */
    private static final long MOST_BYTES = Integer.MAX_VALUE - 8;

    private ModelFiles() {}

    /** @throws ModelFileException if it is no model that can be used */
    static ModelContent read(String path, SparkSession session) throws IOException {
        Path file = new Path(path);
        FileSystem files = file.getFileSystem(session.sessionState().newHadoopConf());
        try {
            FileStatus status = files.getFileStatus(file);
            if (status.isDirectory() || status.getLen() > MOST_BYTES) {
                throw wrong(
                        path,
                        "expected a model file of at most " + MOST_BYTES + " bytes, found "
                                + (status.isDirectory() ? "a folder" : status.getLen() + " bytes"));
            }
            try (InputStream stream = files.open(file)) {
                return ModelContent.of(stream.readAllBytes(), path);
            }
        } catch (FileNotFoundException missing) {
            throw wrong(path, "no such file; expected a model written by 'gramian train'");
        }
    }

    private static ModelFileException wrong(String path, String problem) {
        return new ModelFileException(path, problem);
    }
}
