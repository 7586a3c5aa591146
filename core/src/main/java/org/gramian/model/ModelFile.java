package org.gramian.model;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.basis.NameList;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * Reads and writes a model and its card as one safetensors file.
 *
 * <p>Every parameter is a float32 tensor, {@code backbone.NAME} or {@code head.NAME}, fixed ones included. Architecture
 * and card are metadata, see {@link ModelHeader}. Equal models give equal bytes. SHA-256 checksums of parameters and metadata
 * are verified at load.
 *
 * <p>Files are untrusted: a file is read only if it has exactly the tensors of its architecture, with their shapes and
 * finite values. This is checked before memory is allocated.
 */
public final class ModelFile {
    private static final ValueLayout.OfFloat NUMBER =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final String DAMAGED = "; the file contradicts its own metadata: train the model again";

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
            requireTensors(header, tensors);
            requireFinite(tensors);
            Safetensors.writeChecked(path, tensors, header.texts());
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
     * @throws ModelFileException if it is no model that {@link #read} would read; only numbers that are damaged or not finite are
     *     left to that
     */
    public static ModelHeader header(Path path) throws ModelFileException {
        try (Arena arena = Arena.ofConfined()) {
            return header(open(path, arena, Safetensors::header));
        }
    }

    /**
     * Reads a model.
     *
     * @throws ModelFileException if the file is not a usable model
     */
    public static Stored read(Path path, Device device) throws ModelFileException {
        try (Arena arena = Arena.ofConfined()) {
            TensorFile file = open(path, arena, Safetensors::read);
            ModelHeader header = header(file);
            try {
                requireFinite(file.tensors());
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

    private interface Opening {
        TensorFile open(Path path, Arena arena) throws TensorFileException;
    }

    private static TensorFile open(Path path, Arena arena, Opening opening) throws ModelFileException {
        if (Files.notExists(path)) {
            throw new ModelFileException(path, "no such file; expected a model written by 'gramian train'");
        }
        try {
            return opening.open(path, arena);
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
            ModelHeader header = ModelHeader.of(file.metadata());
            requireTensors(header, file.tensors());
            if (!file.checked()) {
                throw new IllegalArgumentException(
                        "expected a model with checksums, found none, as unreleased versions wrote; train the model again");
            }
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
                        (_, _, _) -> get(tensors, part + "." + spec.name()).toTensor()))
                .toList();
        return ParameterSet.initialize(stored, new SplittableRandom(0), DType.F32, device);
    }

    /** Checks that tensors are exactly those of the header's architecture, with their types and shapes. */
    private static void requireTensors(ModelHeader header, Map<String, StoredTensor> tensors) {
        requireClasses(header, tensors);
        Map<String, ParameterSpec> wanted = header.parameters();
        List<String> missing = wanted.keySet().stream()
                .filter(name -> !tensors.containsKey(name))
                .toList();
        List<String> extra = tensors.keySet().stream()
                .filter(name -> !wanted.containsKey(name))
                .toList();
        if (!missing.isEmpty() || !extra.isEmpty()) {
            List<String> faults = new ArrayList<>();
            if (!missing.isEmpty()) {
                faults.add("without " + quoted(missing));
            }
            if (!extra.isEmpty()) {
                faults.add("with " + quoted(extra) + " in addition");
            }
            throw new IllegalArgumentException("expected the " + wanted.size() + " tensors of " + header.backbone()
                    + " with the pooling " + header.head().pooling() + ", found " + tensors.size() + ", "
                    + String.join(" and ", faults) + DAMAGED);
        }
        wanted.forEach((name, spec) -> requireShape(name, spec.shape(), get(tensors, name)));
    }

    /** Has its own message: the most likely mistake in a header that was edited by hand. */
    private static void requireClasses(ModelHeader header, Map<String, StoredTensor> tensors) {
        StoredTensor bias = tensors.get(ModelHeader.HEAD + ".classifier.bias");
        int names = header.card().classes().size();
        if (bias != null && bias.shape().rank() == 1 && bias.shape().at(0) != names) {
            throw new IllegalArgumentException("expected a name for each of the "
                    + bias.shape().at(0) + " classes of the classifier, found " + names + " names" + DAMAGED);
        }
    }

    private static void requireShape(String name, Shape shape, StoredTensor found) {
        if (found.type() != DType.F32 || !found.shape().equals(shape)) {
            throw new IllegalArgumentException("expected " + QuotedText.text(name) + " to be " + DType.F32 + shape
                    + ", found " + found.type() + found.shape() + DAMAGED);
        }
    }

    /** Checks that all values are finite. */
    private static void requireFinite(Map<String, StoredTensor> tensors) {
        tensors.forEach((name, tensor) -> {
            MemorySegment data = tensor.data();
            for (long at = 0; at < data.byteSize(); at += Float.BYTES) {
                if (!Float.isFinite(data.get(NUMBER, at))) {
                    throw new IllegalArgumentException("expected finite numbers in " + QuotedText.text(name)
                            + ", found " + data.get(NUMBER, at) + " at index " + at / Float.BYTES);
                }
            }
        });
    }

    private static StoredTensor get(Map<String, StoredTensor> tensors, String name) {
        StoredTensor tensor = tensors.get(name);
        if (tensor == null) {
            throw new IllegalArgumentException("missing tensor " + QuotedText.text(name));
        }
        return tensor;
    }

    private static String quoted(List<String> names) {
        return NameList.some(names.stream().map(QuotedText::text).toList());
    }
}
