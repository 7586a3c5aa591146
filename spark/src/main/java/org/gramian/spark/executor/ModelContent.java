package org.gramian.spark.executor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.gramian.basis.Sha256;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelFileException;
import org.gramian.model.ModelHeader;
import org.jspecify.annotations.Nullable;

/**
 * A model file in the driver's memory: its bytes, and what they say of the model. Executors get the bytes once, however often it
 * is shared.
 */
public final class ModelContent {
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
     * Takes over the bytes of a model file.
     *
     * @param name for messages: where they came from
     * @throws ModelFileException if they are no model that can be used
     * @throws IOException if there is no room for a passing file
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

    /** A passing file of these bytes: models are read by mapping files. */
    static Path written(byte[] bytes) throws IOException {
        Path file = Files.createTempFile("gramian-model-", ".safetensors");
        try {
            return Files.write(file, bytes);
        } catch (IOException failed) {
            Files.delete(file);
            throw failed;
        }
    }

    /** What the file says of the model. */
    public ModelHeader header() {
        return header;
    }

    /** Returns the bytes, not a copy: they must not be changed. */
    public byte[] bytes() {
        return bytes;
    }

    /** The model for tasks of a program. */
    public synchronized SharedModel share(SparkContext program) {
        SharedModel known = shared;
        if (known == null || !program.equals(context)) {
            known = new SharedModel(
                    fingerprint, JavaSparkContext.fromSparkContext(program).broadcast(bytes));
            shared = known;
            context = program;
        }
        return known;
    }
}
