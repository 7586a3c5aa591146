package org.gramian.anomaly;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
import org.gramian.image.crop.Preprocessing;
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
            Safetensors.writeChecked(path, tensors, texts(detector));
        }
    }

    private static StoredTensor stored(List<Double> values) {
        double[] all = values.stream().mapToDouble(Double::doubleValue).toArray();
        return StoredTensor.of(Tensors.of(all, Shape.of(all.length), DType.F64));
    }

    private static SequencedMap<String, String> texts(Stored detector) {
        DetectorCard card = detector.card;
        SequencedMap<String, String> texts = new LinkedHashMap<>();
        texts.put("format", FORMAT);
        texts.put("version", VERSION);
        texts.put("backbone", detector.features.backbone().name());
        texts.put("layers", JsonText.of(card.layers()));
        detector.features.backbone().definition().ifPresent(definition -> texts.put("network", definition));
        texts.put("detector", detector.model.patches().kind().name());
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
            TensorFile file = Safetensors.read(path, arena);
            if (!FORMAT.equals(file.metadata().get("format"))) {
                throw new IllegalArgumentException(
                        "gramian-model".equals(file.metadata().get("format"))
                                ? "this is a classifier, not a detector; use it by 'gramian predict' or Classifier.load"
                                : "expected a detector written by 'gramian train' from good images, found another safetensors file");
            }
            return parse(new Reader(file.metadata(), file.tensors(), device), file.checked());
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

    private static Stored parse(Reader reader, boolean checked) {
        if (!VERSION.equals(reader.text("version"))) {
            throw new IllegalArgumentException("is a detector of format version "
                    + QuotedText.text(reader.text("version")) + ", this program reads version " + VERSION);
        }
        if (!checked) {
            throw new IllegalArgumentException("expected a detector with checksums, found none; train it again");
        }
        DetectorCard card = reader.card();
        String name = reader.text("backbone");
        String definition = reader.texts.get("network");
        Backbone whole = definition == null ? Backbone.of(name) : Backbone.of(name, definition, card.preprocessing());
        Backbone cut = whole.cutAt(String.join("+", card.layers()));
        PatchModel.Kind kind = reader.kind();
        ParameterSet parameters = reader.parameters(cut);
        Features features = Features.of(
                whole,
                card.layers(),
                parameters,
                card.preprocessing(),
                new Size(card.width(), card.height()),
                reader.device);
        try (Scope scope = Scope.open()) {
            long d = cut.channels();
            long positions = features.grid().elements();
            PatchModel patches = kind.of(reader.tensors(PATCHES, scope));
            patches.requireShapes(positions, d);
            Map<String, Tensor> ofWhole = reader.tensors(WHOLE, scope);
            Optional<Whitening> mean = ofWhole.isEmpty()
                    ? Optional.empty()
                    : Optional.of(((PatchModel.Gaussian) PatchModel.Kind.GAUSSIAN.of(ofWhole)).whitening());
            mean.ifPresent(each -> new PatchModel.Gaussian(each).requireShapes(positions, d));
            return new Stored(features, new AnomalyModel(patches, mean), card);
        } catch (RuntimeException failed) {
            features.close();
            throw failed;
        }
    }

    /** Reads the parts of a file. */
    private record Reader(Map<String, String> texts, Map<String, StoredTensor> tensors, Device device) {
        String text(String key) {
            String text = texts.get(key);
            if (text == null) {
                throw new IllegalArgumentException("expected the metadata " + QuotedText.text(key) + ", found none");
            }
            return text;
        }

        private int integer(String key) {
            double value = JsonText.number(key, text(key));
            if (value != Math.rint(value) || Math.abs(value) > 1 << 24) {
                throw new IllegalArgumentException("expected a whole number as " + key + ", found " + text(key));
            }
            return (int) value;
        }

        DetectorCard card() {
            return new DetectorCard(
                    Preprocessing.parse(text("preprocessing")),
                    JsonText.strings("layers", text("layers")),
                    integer("width"),
                    integer("height"),
                    integer("tile"),
                    JsonText.number("patchScale", text("patchScale")),
                    JsonText.number("wholeScale", text("wholeScale")),
                    JsonText.number("falseAlarms", text("falseAlarms")),
                    values("scores"),
                    values("peaks"),
                    JsonText.texts("origin", text("origin")),
                    JsonText.numbers("metrics", text("metrics")));
        }

        private List<Double> values(String name) {
            StoredTensor stored = stored(CALIBRATION + name);
            if (stored.type() != DType.F64
                    || stored.shape().rank() != 1
                    || stored.firstNonFinite().isPresent()) {
                throw new IllegalArgumentException("expected finite numbers in " + CALIBRATION + name);
            }
            try (Scope _ = Scope.open()) {
                return Arrays.stream(stored.toTensor().toDoubles()).boxed().toList();
            }
        }

        PatchModel.Kind kind() {
            String name = text("detector");
            for (PatchModel.Kind kind : PatchModel.Kind.values()) {
                if (kind.name().equals(name)) {
                    return kind;
                }
            }
            throw new IllegalArgumentException("unknown detector " + QuotedText.text(name));
        }

        private StoredTensor stored(String name) {
            StoredTensor tensor = tensors.get(name);
            if (tensor == null) {
                throw new IllegalArgumentException("missing tensor " + QuotedText.text(name));
            }
            return tensor;
        }

        ParameterSet parameters(Backbone cut) {
            List<ParameterSpec> stored = cut.parameters().stream()
                    .map(spec -> new ParameterSpec(
                            spec.name(),
                            spec.shape(),
                            spec.role(),
                            (_, _, _) -> checked(BACKBONE + spec.name(), spec.shape())))
                    .toList();
            return ParameterSet.initialize(stored, new SplittableRandom(0), DType.F32, device);
        }

        private Tensor checked(String name, Shape shape) {
            StoredTensor tensor = stored(name);
            if (!tensor.shape().equals(shape)) {
                throw new IllegalArgumentException(
                        "expected " + QuotedText.text(name) + " to be " + shape + ", found " + tensor.shape());
            }
            return finite(name, tensor);
        }

        private static Tensor finite(String name, StoredTensor tensor) {
            if (tensor.type() != DType.F32 || tensor.firstNonFinite().isPresent()) {
                throw new IllegalArgumentException("expected finite float32 numbers in " + QuotedText.text(name));
            }
            return tensor.toTensor();
        }

        /** Returns the tensors with a prefix on the device; they outlive the scope. */
        Map<String, Tensor> tensors(String prefix, Scope scope) {
            Map<String, Tensor> found = new LinkedHashMap<>();
            tensors.forEach((name, tensor) -> {
                if (name.startsWith(prefix)) {
                    Tensor value = finite(name, tensor).to(device);
                    found.put(name.substring(prefix.length()), scope.keep(value));
                }
            });
            return found;
        }
    }
}
