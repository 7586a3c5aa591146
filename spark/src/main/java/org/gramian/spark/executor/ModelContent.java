package org.gramian.spark.executor;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;
import org.gramian.basis.Sha256;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelFileException;
import org.gramian.model.ModelHeader;
import org.jspecify.annotations.Nullable;

/** Model file in the memory of the driver. Executors get its bytes once. */
public final class ModelContent {
    /** A broadcast is one array; models are some tens of megabytes. */
    private static final long MOST_BYTES = Integer.MAX_VALUE - 8;

    private final byte[] bytes;
    private final ModelHeader header;
    private final String fingerprint;
    private @Nullable SparkContext context;
    private @Nullable SharedModel shared;

    private ModelContent(byte[] bytes, ModelHeader header) {
        this.bytes = bytes;
        this.header = header;
        this.fingerprint = HexFormat.of().formatHex(Sha256.digest().digest(bytes));
    }

    /**
     * Model as tasks carry it: a broadcast, which executors fetch once, from the driver and from one another.
     *
     * @param fingerprint SHA-256 of the bytes, in hexadecimal
     * @param content bytes of the model file
     */
    public record SharedModel(String fingerprint, Broadcast<byte[]> content) implements Serializable {}

    /**
     * Reads a model file from any Hadoop file system.
     *
     * @throws ModelFileException if it is not a usable model
     */
    public static ModelContent read(String path, SparkSession session) throws IOException {
        org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(path);
        FileSystem files = file.getFileSystem(session.sessionState().newHadoopConf());
        try {
            FileStatus status = files.getFileStatus(file);
            if (status.isDirectory() || status.getLen() > MOST_BYTES) {
                throw new ModelFileException(
                        path,
                        "expected a model file of at most " + MOST_BYTES + " bytes, found "
                                + (status.isDirectory() ? "a folder" : status.getLen() + " bytes"));
            }
            try (InputStream stream = files.open(file)) {
                return of(stream.readAllBytes(), path);
            }
        } catch (FileNotFoundException missing) {
            throw new ModelFileException(path, "no such file; expected a model written by 'gramian train'");
        }
    }

    /**
     * Takes over the bytes of a model file.
     *
     * @param name origin of the bytes, for messages
     * @throws ModelFileException if they are not a usable model
     * @throws IOException if a temporary file cannot be written
     */
    public static ModelContent of(byte[] bytes, String name) throws IOException {
        Path file = written(bytes);
        try {
            return new ModelContent(bytes, ModelFile.header(file));
        } catch (ModelFileException wrong) {
            throw new ModelFileException(name, wrong);
        } finally {
            Files.delete(file);
        }
    }

    /** Writes a temporary file: models are read by mapping files. */
    static Path written(byte[] bytes) throws IOException {
        Path file = Files.createTempFile("gramian-model-", ".safetensors");
        try {
            return Files.write(file, bytes);
        } catch (IOException failed) {
            Files.delete(file);
            throw failed;
        }
    }

    public ModelHeader header() {
        return header;
    }

    /** Returns the bytes, not a copy: they must not be changed. */
    public byte[] bytes() {
        return bytes;
    }

    public synchronized SharedModel share(SparkContext application) {
        SharedModel known = shared;
        if (known == null || !application.equals(context)) {
            known = new SharedModel(
                    fingerprint, JavaSparkContext.fromSparkContext(application).broadcast(bytes));
            shared = known;
            context = application;
        }
        return known;
    }
}
