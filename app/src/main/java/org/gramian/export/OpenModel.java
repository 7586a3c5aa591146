package org.gramian.export;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import org.gramian.model.Engine;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelFileException;
import org.gramian.model.ModelHeader;
import org.gramian.tensor.Device;

/**
 * A model of either kind of file, ready to compute: one of 'gramian train' by libtorch, one of 'gramian export' by ONNX
 * Runtime.
 *
 * <pre>{@code
 * try (OpenModel model = OpenModel.open(Path.of("model.onnx"), OpenModel.EngineChoice.AUTO, () -> Device.CPU, 0)) {
 *     float[][] scores = model.engine().compute(crops, shape, Engine.Rows.SCORES);
 * }
 * }</pre>
 *
 * <p>libtorch is not loaded for an ONNX file.
 */
public final class OpenModel implements AutoCloseable {
    /** What computes. */
    public enum EngineChoice {
        /** What the file is for. */
        AUTO,
        LIBTORCH,
        /** A model of 'gramian train' is exported for it, into a file that is gone afterwards. */
        ONNX
    }

    private final ModelHeader header;
    private final Engine engine;
    private final Optional<Model> model;
    private final Runnable closing;

    private OpenModel(ModelHeader header, Engine engine, Optional<Model> model, Runnable closing) {
        this.header = header;
        this.engine = engine;
        this.model = model;
        this.closing = closing;
    }

    /**
     * What a file of either kind says of its model.
     *
     * @throws ModelFileException if it is none that can be used
     */
    public static ModelHeader header(Path file) throws ModelFileException {
        return OnnxFile.isNamed(file) ? OnnxFile.header(file) : ModelFile.header(file);
    }

    /**
     * Opens a file.
     *
     * @param device asked only if libtorch computes
     * @param threads of one operator of ONNX Runtime, 0 for all cores; libtorch's are set elsewhere, for the whole process
     * @throws ModelFileException if the file cannot be used
     * @throws IllegalArgumentException if libtorch is to run an ONNX file, or a model cannot be exported
     */
    public static OpenModel open(Path file, EngineChoice runtime, Supplier<Device> device, int threads)
            throws IOException {
        if (OnnxFile.isNamed(file)) {
            if (runtime == EngineChoice.LIBTORCH) {
                throw new IllegalArgumentException("libtorch does not run ONNX files, found " + file
                        + "; use the model that it was exported from, or --engine onnx");
            }
            return of(OnnxEngine.open(file, threads));
        }
        if (runtime == EngineChoice.ONNX) {
            return exported(file, threads);
        }
        ModelFile.Stored stored = ModelFile.read(file, device.get());
        ModelHeader header = ModelHeader.of(stored.model(), stored.card());
        return new OpenModel(header, Engine.of(stored.model()), Optional.of(stored.model()), stored::close);
    }

    private static OpenModel of(OnnxEngine engine) {
        return new OpenModel(engine.header(), engine, Optional.empty(), engine::close);
    }

    private static OpenModel exported(Path file, int threads) throws IOException {
        Path folder = Files.createTempDirectory("gramian-onnx");
        Path draft = folder.resolve("model" + OnnxFile.SUFFIX);
        try (ModelFile.Stored stored = ModelFile.read(file, Device.CPU)) {
            OnnxFile.write(draft, stored.model(), stored.card(), OnnxFile.DEFAULT_OPSET);
            return CloseOnFailure.unlessFails(of(OnnxEngine.open(draft, threads)), () -> remove(draft, folder));
        } finally {
            remove(draft, folder); // of a model that could not be opened
        }
    }

    private static void remove(Path draft, Path folder) throws IOException {
        Files.deleteIfExists(draft);
        Files.deleteIfExists(folder);
    }

    /** Architecture and card. */
    public ModelHeader header() {
        return header;
    }

    public ModelCard card() {
        return header.card();
    }

    public Engine engine() {
        return engine;
    }

    /** The name of what computes: {@code libtorch} or {@code onnx}. */
    public String engineName() {
        return model.isPresent() ? "libtorch" : "onnx";
    }

    /** The model itself, for what needs gradients; there is none in ONNX Runtime. */
    public Optional<Model> model() {
        return model;
    }

    @Override
    public void close() {
        closing.run();
    }
}
