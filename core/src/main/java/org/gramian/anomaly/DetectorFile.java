package org.gramian.anomaly;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.gramian.anomaly.Features.Size;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.linear.Whitening;
import org.gramian.model.ModelFileException;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * Reads and writes a detector as one safetensors file with checksums: tensors {@code backbone.NAME}, {@code patches.NAME}, {@code
 * whole.NAME} and {@code calibration.NAME}; the card as metadata. Files are untrusted: shapes and finite values are checked.
 */
final class DetectorFile {
    static final String FORMAT = "gramian-detector";
    private static final String VERSION = "1";
    private static final String BACKBONE = "backbone.";
    private static final String PATCHES = "patches.";
    private static final String WHOLE = "whole.";
    private static final String CALIBRATION = "calibration.";
    private static final ValueLayout.OfDouble NUMBER =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private DetectorFile() {}

    /** A detector in memory; closing it frees its tensors. */
    record Stored(Features features, AnomalyModel model, DetectorCard card) implements AutoCloseable {
        @Override
        public void close() {
            features.close();
            model.tensors().forEach(Tensor::close);
        }
    }

    static void write(Path path, Stored detector) throws IOException {
        try (Scope _ = Scope.open()) {
            Map<String, StoredTensor> tensors = new LinkedHashMap<>();
            for (Parameter parameter : detector.features.parameters().all()) {
                tensors.put(BACKBONE + parameter.name(), StoredTensor.of(parameter.value()));
            }
            detector.model
                    .patches()
                    .tensors()
                    .forEach((name, value) -> tensors.put(PATCHES + name, StoredTensor.of(value)));
            detector.model.whole().ifPresent(whole -> {
                tensors.put(WHOLE + "mean", StoredTensor.of(whole.mean()));
                tensors.put(WHOLE + "whitening", StoredTensor.of(whole.matrix()));
            });
            tensors.put(CALIBRATION + "scores", stored(detector.card.calibration()));
            tensors.put(CALIBRATION + "peaks", stored(detector.card.peaks()));
            Safetensors.writeChecked(
                    path,
                    tensors,
                    texts(
                            detector.features.backbone(),
                            detector.model.patches().kind().name(),
                            detector.card));
        }
    }

    private static StoredTensor stored(List<Double> values) {
        double[] all = values.stream().mapToDouble(Double::doubleValue).toArray();
        return StoredTensor.of(Tensors.of(all, Shape.of(all.length), DType.F64));
    }

    static SequencedMap<String, String> texts(Backbone backbone, String kind, DetectorCard card) {
        SequencedMap<String, String> texts = new LinkedHashMap<>();
        texts.put("format", FORMAT);
        texts.put("version", VERSION);
        texts.put("backbone", backbone.name());
        texts.put("layers", JsonText.of(card.layers()));
        backbone.definition().ifPresent(definition -> texts.put("network", definition));
        texts.put("detector", kind);
        texts.put("preprocessing", card.preprocessing().text());
        texts.put("width", Integer.toString(card.width()));
        texts.put("height", Integer.toString(card.height()));
        texts.put("tile", Integer.toString(card.tile()));
        texts.put("patchScale", Double.toString(card.patchScale()));
        texts.put("wholeScale", Double.toString(card.wholeScale()));
        texts.put("falseAlarms", Double.toString(card.falseAlarms()));
        texts.put("origin", JsonText.of(card.origin()));
        texts.put("metrics", JsonText.of(card.metrics()));
        return texts;
    }

    /**
     * Reads a detector.
     *
     * @throws ModelFileException if the file is not a usable detector
     */
    static Stored read(Path path, Device device) throws ModelFileException {
        try (Arena arena = Arena.ofConfined()) {
            return stored(network(path, arena), device);
        }
    }

    /**
     * Reads the network into host memory.
     *
     * @throws ModelFileException if the file is not a usable detector
     */
    static DetectorNetwork network(Path path, Arena arena) throws ModelFileException {
        try {
            TensorFile file = Safetensors.read(path, arena);
            if (!FORMAT.equals(file.metadata().get("format"))) {
                throw new IllegalArgumentException(
                        "gramian-model".equals(file.metadata().get("format"))
                                ? "this is a classifier, not a detector; use it by 'gramian predict' or Classifier.load"
                                : "expected a detector written by 'gramian train' from good images, found another safetensors file");
            }
            return parse(file);
        } catch (TensorFileException wrong) {
            throw new ModelFileException(path, "cannot be read as a detector: " + wrong.getMessage(), wrong);
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            throw new ModelFileException(path, String.valueOf(wrong.getMessage()), wrong);
        }
    }

    /** Returns whether a file has the header of a detector. */
    static boolean isDetector(Path path) {
        try (Arena arena = Arena.ofConfined()) {
            return FORMAT.equals(Safetensors.header(path, arena).metadata().get("format"));
        } catch (TensorFileException _) {
            return false;
        }
    }

    private static DetectorNetwork parse(TensorFile file) {
        Map<String, String> texts = file.metadata();
        String version = JsonText.text(texts, "version");
        if (!VERSION.equals(version)) {
            throw new IllegalArgumentException("is a detector of format version " + QuotedText.text(version)
                    + ", this program reads version " + VERSION);
        }
        if (!file.checked()) {
            throw new IllegalArgumentException("expected a detector with checksums, found none; train it again");
        }
        DetectorCard card = DetectorNetwork.card(texts, values(file, "scores"), values(file, "peaks"));
        String name = JsonText.text(texts, "backbone");
        String definition = texts.get("network");
        Backbone whole = definition == null ? Backbone.of(name) : Backbone.of(name, definition, card.preprocessing());
        Backbone cut = whole.cutAt(String.join("+", card.layers()));
        Shape grid = Features.grid(cut, card.layers(), new Size(card.width(), card.height()));
        Map<String, StoredTensor> used = new LinkedHashMap<>();
        for (ParameterSpec spec : cut.parameters()) {
            StoredTensor tensor = tensor(file, BACKBONE + spec.name());
            if (!tensor.shape().equals(spec.shape())) {
                throw new IllegalArgumentException("expected " + QuotedText.text(BACKBONE + spec.name()) + " to be "
                        + spec.shape() + ", found " + tensor.shape());
            }
            used.put(BACKBONE + spec.name(), tensor);
        }
        PatchModel.Kind kind = kind(JsonText.text(texts, "detector"));
        addFitted(file, PATCHES, kind, grid.elements(), cut.channels(), used);
        if (card.wholeScale() > 0) {
            addFitted(file, WHOLE, PatchModel.Kind.GAUSSIAN, grid.elements(), cut.channels(), used);
        }
        return new DetectorNetwork(
                cut, kind.name(), Math.toIntExact(grid.at(0)), Math.toIntExact(grid.at(1)), used, card);
    }

    private static void addFitted(
            TensorFile file, String prefix, PatchModel.Kind kind, long p, long d, Map<String, StoredTensor> used) {
        Map<String, Shape> shapes = new LinkedHashMap<>();
        for (String name : kind.names()) {
            StoredTensor tensor = tensor(file, prefix + name);
            shapes.put(name, tensor.shape());
            used.put(prefix + name, tensor);
        }
        kind.requireShapes(shapes, p, d);
    }

    private static PatchModel.Kind kind(String name) {
        return Arrays.stream(PatchModel.Kind.values())
                .filter(kind -> kind.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown detector " + QuotedText.text(name)));
    }

    private static StoredTensor tensor(TensorFile file, String name) {
        StoredTensor tensor = file.tensors().get(name);
        if (tensor == null) {
            throw new IllegalArgumentException("missing tensor " + QuotedText.text(name));
        }
        if (tensor.type() != (name.startsWith(CALIBRATION) ? DType.F64 : DType.F32)
                || tensor.firstNonFinite().isPresent()) {
            throw new IllegalArgumentException("expected finite numbers in " + QuotedText.text(name) + ", found "
                    + tensor.type() + " or numbers that are not finite");
        }
        return tensor;
    }

    private static List<Double> values(TensorFile file, String name) {
        StoredTensor stored = tensor(file, CALIBRATION + name);
        if (stored.shape().rank() != 1) {
            throw new IllegalArgumentException(
                    "expected a list of numbers in " + CALIBRATION + name + ", found " + stored.shape());
        }
        return Arrays.stream(stored.data().toArray(NUMBER)).boxed().toList();
    }

    private static Stored stored(DetectorNetwork network, Device device) {
        List<ParameterSpec> specs = network.backbone().parameters().stream()
                .map(spec -> new ParameterSpec(
                        spec.name(),
                        spec.shape(),
                        spec.role(),
                        (_, _, _) -> Objects.requireNonNull(network.tensors().get(BACKBONE + spec.name()))
                                .toTensor()))
                .toList();
        DetectorCard card = network.card();
        Features features = Features.of(
                network.backbone(),
                card.layers(),
                ParameterSet.initialize(specs, new SplittableRandom(0), DType.F32, device),
                card.preprocessing(),
                new Size(card.width(), card.height()),
                device);
        try (Scope scope = Scope.open()) {
            PatchModel patches = kind(network.kind()).of(fitted(network, PATCHES, device, scope));
            Map<String, Tensor> mean = fitted(network, WHOLE, device, scope);
            Optional<Whitening> whole = mean.isEmpty()
                    ? Optional.empty()
                    : Optional.of(((PatchModel.Gaussian) PatchModel.Kind.GAUSSIAN.of(mean)).whitening());
            return new Stored(features, new AnomalyModel(patches, whole), card);
        } catch (RuntimeException failed) {
            features.close();
            throw failed;
        }
    }

    /** Returns the tensors with a prefix on the device; they outlive the scope. */
    private static Map<String, Tensor> fitted(DetectorNetwork network, String prefix, Device device, Scope scope) {
        Map<String, Tensor> found = new LinkedHashMap<>();
        network.tensors().forEach((name, tensor) -> {
            if (name.startsWith(prefix)) {
                found.put(
                        name.substring(prefix.length()),
                        scope.keep(tensor.toTensor().to(device)));
            }
        });
        return found;
    }
}
