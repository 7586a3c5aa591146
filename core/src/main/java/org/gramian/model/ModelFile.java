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
import java.util.Optional;
import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.basis.QuotedText;
import org.gramian.model.OpenSet.KnownClasses;
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
 *
 * @since 0.1
 */
public final class ModelFile {
    /** Name of the model in a run folder. */
    public static final String NAME = "model.safetensors";

    private static final ValueLayout.OfFloat NUMBER =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int PIECE = 1 << 14;
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
     * Architecture, card and parameters in host memory, without libtorch.
     *
     * @param header architecture and card
     * @param tensors every parameter by its name in the file
     */
    @SuppressWarnings("exports") // for the engines of the application
    public record Content(ModelHeader header, Map<String, StoredTensor> tensors) {
        /**
         * Returns the content of a model. Parameters on the CPU are not copied: the model must stay open; others are copied in the
         * current scope.
         *
         * @throws IllegalArgumentException if the card does not fit the model
         */
        public static Content of(Model model, ModelCard card) {
            Map<String, StoredTensor> tensors = new LinkedHashMap<>();
            add(model.backboneParameters(), ModelHeader.BACKBONE, tensors);
            add(model.headParameters(), ModelHeader.HEAD, tensors);
            if (card.openSet().isPresent()) {
                model.known().ifPresent(known -> add(known.parameters(), KnownClasses.PREFIX, tensors));
            }
            return new Content(ModelHeader.of(model, card), tensors);
        }

        /** Returns a copy of the model on a device. */
        public Model toModel(Device device) {
            ParameterSet backbone = parameters(header.backbone().parameters(), ModelHeader.BACKBONE, tensors, device);
            try {
                ParameterSet head = parameters(
                        header.head().parameters(header.backbone().channels()), ModelHeader.HEAD, tensors, device);
                Model model = new Model(header.backbone(), backbone, header.head(), head, device);
                if (header.card().openSet().isPresent()) {
                    long size = header.descriptorSize();
                    ParameterSet known = parameters(
                            KnownClasses.parameters(size, header.head().classes()),
                            KnownClasses.PREFIX,
                            tensors,
                            Device.CPU);
                    model.setKnown(Optional.of(new KnownClasses(size, known)));
                }
                return model;
            } catch (RuntimeException failed) {
                backbone.close();
                throw failed;
            }
        }
    }

    /**
     * Writes or replaces a file atomically.
     *
     * @throws IllegalArgumentException if the card does not fit the model, or a parameter is not finite
     * @throws IOException if the file cannot be written
     */
    public static void write(Path path, Model model, ModelCard card) throws IOException {
        try (Scope _ = Scope.open()) {
            Content content = Content.of(model, card);
            requireTensors(content.header, content.tensors);
            requireFinite(content.tensors);
            Safetensors.writeChecked(path, content.tensors, content.header.texts());
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

    /** Returns the file itself, or the model of a run folder. */
    public static Path in(Path path) {
        return Files.isDirectory(path) ? path.resolve(NAME) : path;
    }

    /**
     * Reads a model.
     *
     * @throws ModelFileException if the file is not a usable model
     */
    public static Stored read(Path path, Device device) throws ModelFileException {
        try (Arena arena = Arena.ofConfined()) {
            Content content = content(path, arena);
            return new Stored(content.toModel(device), content.header.card());
        }
    }

    /**
     * Reads a model into host memory that lives as long as the arena.
     *
     * @throws ModelFileException if the file is not a usable model
     */
    public static Content content(Path path, Arena arena) throws ModelFileException {
        TensorFile file = open(path, arena, Safetensors::read);
        ModelHeader header = header(file);
        try {
            requireFinite(file.tensors());
        } catch (IllegalArgumentException wrong) {
            throw new ModelFileException(path, wrong.getMessage() + "; train the model again", wrong);
        }
        return new Content(header, file.tensors());
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
                        "expected a model with checksums, found none, as unreleased versions wrote; train the model"
                                + " again");
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
                faults.add("without " + QuotedText.quoted(missing));
            }
            if (!extra.isEmpty()) {
                faults.add("with " + QuotedText.quoted(extra) + " in addition");
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

    /** Checks that all values are finite; piece by piece in an array, which takes a tenth of the time of a segment in cold code. */
    private static void requireFinite(Map<String, StoredTensor> tensors) {
        float[] piece = new float[PIECE];
        tensors.forEach((name, tensor) -> {
            long elements = tensor.shape().elements();
            for (long from = 0; from < elements; from += PIECE) {
                int count = (int) Math.min(PIECE, elements - from);
                MemorySegment.copy(tensor.data(), NUMBER, from * Float.BYTES, piece, 0, count);
                for (int i = 0; i < count; i++) {
                    if (!Float.isFinite(piece[i])) {
                        throw new IllegalArgumentException("expected finite numbers in " + QuotedText.text(name)
                                + ", found " + piece[i] + " at index " + (from + i));
                    }
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
}
