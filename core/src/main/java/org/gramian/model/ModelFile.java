package org.gramian.model;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * A model and its card as one safetensors file.
 *
 * <p>Every parameter is a float32 tensor, {@code backbone.NAME} or {@code head.NAME}, fixed ones included: a
 * model needs no other file. Architecture and card are metadata, see {@link ModelMetadata}. Equal models give equal bytes,
 * and what was read and is written again gives the bytes that were read.
 *
 * <p>A file is untrusted input: it is read only if it has every tensor of its architecture, with its shape and finite
 * values, and no other. This is checked before memory is allocated.
 */
public final class ModelFile {
    private ModelFile() {}

    /** A loaded model with its card. */
    public record Stored(Model model, ModelCard card) implements AutoCloseable {
        @Override
        public void close() {
            model.close();
        }
    }

    /**
     * Writes or replaces a file atomically.
     *
     * @throws IllegalArgumentException if the card does not fit the model, or a parameter is not finite
     * @throws IOException if the file cannot be written
     */
    public static void write(Path path, Model model, ModelCard card) throws IOException {
        ModelHeader header = ModelHeader.of(model, card);
        try (Scope _ = Scope.open()) {
            Map<String, StoredTensor> tensors = new LinkedHashMap<>();
            add(model.backboneParameters(), ModelHeader.BACKBONE, tensors);
            add(model.headParameters(), ModelHeader.HEAD, tensors);
            ModelTensors.requireAll(header, tensors);
            ModelTensors.requireFinite(tensors);
            Safetensors.write(path, tensors, ModelMetadata.of(header));
        }
    }

    private static void add(ParameterSet parameters, String part, Map<String, StoredTensor> tensors) {
        for (Parameter parameter : parameters.all()) {
            tensors.put(part + "." + parameter.name(), StoredTensor.of(parameter.value()));
        }
    }

    /**
     * Reads the header of a file, without the parameters.
     *
     * @throws ModelFileException if it is no model that {@link #read} would read; only numbers that are not finite are left
     *     to that
     */
    public static ModelHeader header(Path path) throws ModelFileException {
        try (Arena arena = Arena.ofConfined()) {
            return header(open(path, arena));
        }
    }

    /**
     * Reads a model.
     *
     * @throws ModelFileException if the file is not a usable model
     */
    public static Stored read(Path path, Device device) throws ModelFileException {
        try (Arena arena = Arena.ofConfined()) {
            TensorFile file = open(path, arena);
            ModelHeader header = header(file);
            try {
                ModelTensors.requireFinite(file.tensors());
            } catch (IllegalArgumentException wrong) {
                throw new ModelFileException(path, wrong.getMessage() + "; train the model again", wrong);
            }
            ParameterSet backbone =
                    parameters(header.backbone().parameters(), ModelHeader.BACKBONE, file.tensors(), device);
            try {
                ParameterSet head = parameters(
                        header.head().parameters(header.backbone().channels()),
                        ModelHeader.HEAD,
                        file.tensors(),
                        device);
                return new Stored(new Model(header.backbone(), backbone, header.head(), head, device), header.card());
            } catch (RuntimeException failed) {
                backbone.close();
                throw failed;
            }
        }
    }

    private static TensorFile open(Path path, Arena arena) throws ModelFileException {
        if (Files.notExists(path)) {
            throw new ModelFileException(path, "no such file; expected a model written by 'gramian train'");
        }
        try {
            return Safetensors.read(path, arena);
        } catch (TensorFileException wrong) {
            String message = String.valueOf(wrong.getMessage());
            String own = path + ": ";
            String problem = message.startsWith(own) ? message.substring(own.length()) : message;
            throw new ModelFileException(
                    path,
                    "cannot be read as a model: " + (problem.startsWith("is ") ? "it " : "") + problem
                            + (problem.endsWith("?") ? " A" : "; a")
                            + " model is a complete file written by 'gramian train'",
                    wrong);
        }
    }

    private static ModelHeader header(TensorFile file) throws ModelFileException {
        try {
            ModelHeader header = ModelMetadata.read(file.metadata());
            ModelTensors.requireAll(header, file.tensors());
            return header;
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            throw new ModelFileException(file.path(), String.valueOf(wrong.getMessage()), wrong);
        }
    }

    private static ParameterSet parameters(
            List<ParameterSpec> specs, String part, Map<String, StoredTensor> tensors, Device device) {
        List<ParameterSpec> stored = specs.stream()
                .map(spec -> new ParameterSpec(
                        spec.name(),
                        spec.shape(),
                        spec.role(),
                        (_, _, _) -> ModelTensors.get(tensors, part + "." + spec.name())
                                .toTensor()))
                .toList();
        return ParameterSet.initialize(stored, new SplittableRandom(0), DType.F32, device);
    }
}
