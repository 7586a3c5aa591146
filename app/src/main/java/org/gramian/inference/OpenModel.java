package org.gramian.inference;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import org.gramian.export.ExportedFile;
import org.gramian.export.OnnxEngine;
import org.gramian.model.Classifier;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelFileException;
import org.gramian.model.ModelHeader;
import org.gramian.tensor.Device;

/**
 * A loaded model of either kind of file: one of 'gramian train' runs in libtorch, one of 'gramian export' in ONNX Runtime.
 *
 * <pre>{@code
 * try (OpenModel model = OpenModel.open(Path.of("model.onnx"), OpenModel.EngineChoice.AUTO, () -> Device.CPU, 0)) {
 *     Prediction prediction = model.classifier().predict(Path.of("photo.jpg"));
 * }
 * }</pre>
 *
 * <p>libtorch is not loaded for an ONNX file.
 *
 * @param header architecture and card
 * @param classifier runs the model; owns the engine
 * @param engineName {@code libtorch} or {@code onnx}
 * @param model the model in libtorch, for gradients; empty for ONNX Runtime
 */
public record OpenModel(ModelHeader header, Classifier classifier, String engineName, Optional<Model> model)
        implements AutoCloseable {
    /** The runtime of a model. */
    public enum EngineChoice {
        /** ONNX Runtime for an ONNX file, else libtorch. */
        AUTO,
        LIBTORCH,
        /** ONNX Runtime; a model of 'gramian train' is exported to a temporary file first. */
        ONNX
    }

    /**
     * Reads the header of a model file of either kind.
     *
     * @throws ModelFileException if the file is not a usable model
     */
    public static ModelHeader header(Path file) throws ModelFileException {
        return ExportedFile.isNamed(file) ? ExportedFile.header(file) : ModelFile.header(file);
    }

    /**
     * Opens a model file.
     *
     * @param device of libtorch; not called for ONNX Runtime
     * @param threads of one operator in ONNX Runtime, 0 for all cores; those of libtorch are set for the whole process
     * @throws ModelFileException if the file is not a usable model
     * @throws IllegalArgumentException if libtorch is chosen for an ONNX file, or the model cannot be exported
     */
    public static OpenModel open(Path file, EngineChoice runtime, Supplier<Device> device, int threads)
            throws IOException {
        if (ExportedFile.isNamed(file)) {
            if (runtime == EngineChoice.LIBTORCH) {
                throw new IllegalArgumentException("libtorch does not run ONNX files, found " + file
                        + "; use the model that it was exported from, or --engine onnx");
            }
            return of(OnnxEngine.open(file, threads));
        }
        return runtime == EngineChoice.ONNX ? exported(file, threads) : of(ModelFile.read(file, device.get()));
    }

    /** Returns a model in libtorch; closing it closes the model. */
    public static OpenModel of(ModelFile.Stored stored) {
        return new OpenModel(
                ModelHeader.of(stored.model(), stored.card()),
                Classifier.of(stored.model(), stored.card()),
                "libtorch",
                Optional.of(stored.model()));
    }

    private static OpenModel of(OnnxEngine engine) {
        ModelHeader header = engine.header();
        return new OpenModel(header, Classifier.of(engine, header.card(), engine::close), "onnx", Optional.empty());
    }

    private static OpenModel exported(Path file, int threads) throws IOException {
        Path folder = Files.createTempDirectory("gramian-onnx");
        Path draft = folder.resolve("model" + ExportedFile.SUFFIX);
        try (ModelFile.Stored stored = ModelFile.read(file, Device.CPU)) {
            ExportedFile.write(draft, stored.model(), stored.card(), ExportedFile.DEFAULT_OPSET);
            return of(OnnxEngine.open(draft, threads));
        } finally {
            Files.deleteIfExists(draft);
            Files.deleteIfExists(folder);
        }
    }

    public ModelCard card() {
        return header.card();
    }

    @Override
    public void close() {
        classifier.close();
    }
}
