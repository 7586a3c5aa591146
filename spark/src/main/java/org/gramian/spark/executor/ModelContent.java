package org.gramian.spark.executor;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.gramian.anomaly.Detector;
import org.gramian.basis.Sha256;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelFileException;
import org.gramian.spark.executor.ExecutorModels.SharedModel;

/** Model file in the memory of the driver. */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ModelContent(byte[] bytes, List<String> classes) {
    /** A broadcast is one array; models are some tens of megabytes. */
    private static final long MAX_BYTES = Integer.MAX_VALUE - 8;

    /** Reads the model file of a classifier from any Hadoop file system. */
    public static ModelContent read(String path, SparkSession session) throws IOException {
        return of(bytes(path, session), path);
    }

    /** Reads a model file from any Hadoop file system. */
    public static byte[] bytes(String path, SparkSession session) throws IOException {
        org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(path);
        FileSystem files = file.getFileSystem(session.sessionState().newHadoopConf());
        try {
            FileStatus status = files.getFileStatus(file);
            // a pipe or a device has no bytes, and reading it might not end
            if (status.isDirectory() || status.getLen() == 0 || status.getLen() > MAX_BYTES) {
                throw new ModelFileException(
                        path,
                        "expected a model file of 1 to " + MAX_BYTES + " bytes, found "
                                + (status.isDirectory() ? "a folder" : status.getLen() + " bytes"));
            }
            try (InputStream stream = files.open(file)) {
                return stream.readAllBytes();
            }
        } catch (FileNotFoundException missing) {
            throw new ModelFileException(path, "no such file; expected a model written by 'gramian train'");
        }
    }

    /** Takes over the bytes of the model file of a classifier. */
    public static ModelContent of(byte[] bytes, String name) throws IOException {
        return opened(bytes, file -> classifier(bytes, file, name));
    }

    /** Takes over the bytes of a model file; empty if it holds a detector of anomalies. */
    public static Optional<ModelContent> unlessDetector(byte[] bytes, String name) throws IOException {
        return opened(
                bytes,
                file -> Detector.isDetector(file) ? Optional.empty() : Optional.of(classifier(bytes, file, name)));
    }

    private static ModelContent classifier(byte[] bytes, Path file, String name) throws IOException {
        try {
            return new ModelContent(bytes, ModelFile.header(file).card().classes());
        } catch (ModelFileException wrong) {
            throw new ModelFileException(name, wrong);
        }
    }

    @FunctionalInterface
    interface Reading<T> {
        T of(Path file) throws IOException;
    }

    /** Reads a model through a temporary file: models are read by mapping files. */
    static <T> T opened(byte[] bytes, Reading<T> reading) throws IOException {
        Path file = Files.createTempFile("gramian-model-", ".safetensors");
        try {
            return reading.of(Files.write(file, bytes));
        } finally {
            Files.delete(file);
        }
    }

    public SharedModel share(SparkContext context) {
        return new SharedModel(
                Sha256.hex(Sha256.of(bytes)),
                JavaSparkContext.fromSparkContext(context).broadcast(bytes));
    }
}
