package org.gramian.cli.common;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.Backbones;
import org.gramian.backbone.onnx.OnnxFile;
import org.gramian.backbone.weights.OnnxWeights;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.backbone.weights.WeightName;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.backbone.weights.Weights;
import org.gramian.backbone.weights.Weights.Provenance;
import org.gramian.basis.Sha256;
import org.gramian.export.ForeignNetwork;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;

/**
 * Installs networks of ONNX files as backbones, after a comparison with ONNX Runtime.
 *
 * @param input preprocessing; if empty, that of the file's metadata, else ImageNet's
 */
public record OnnxImport(WeightStore store, Optional<Preprocessing> input, Consumer<String> remarks) {
    private static final int COLOURS = 3;
    private static final int LONGEST_STEM = 40;
    private static final int DIGITS = 8;

    /** Returns a backbone by name or file, without installing a network of an ONNX file. */
    public static Backbone backbone(String nameOrFile, WeightStore store) throws IOException {
        if (!WeightStore.isOnnx(nameOrFile)) {
            return store.backbone(nameOrFile);
        }
        try (Arena arena = Arena.ofShared()) {
            Path file = Path.of(nameOrFile);
            return backbone(stem(file), OnnxFile.read(file, arena), file, Preprocessing.TORCHVISION);
        } catch (TensorFileException wrong) {
            throw new UnusableWeightsException(wrong);
        }
    }

    private static Backbone backbone(String name, OnnxFile content, Path file, Preprocessing preprocessing)
            throws TensorFileException {
        try {
            String free = Backbones.names().contains(name) ? name + "-onnx" : name;
            return Backbone.of(free, content.graph().definition(), preprocessing);
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            throw new TensorFileException(file, "is not usable as a backbone: " + wrong.getMessage(), wrong);
        }
    }

    @FunctionalInterface
    private interface Work<T> {
        T apply(OnnxFile content, ForeignNetwork reference, Arena arena) throws IOException;
    }

    private static <T> T open(Path file, Work<T> work) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            OnnxFile content = OnnxFile.read(file, arena);
            if (content.weights().isEmpty()) {
                throw new TensorFileException(file, "expected a trained network, found one without weights");
            }
            try (ForeignNetwork reference = ForeignNetwork.open(file)) {
                return work.apply(content, reference, arena);
            }
        } catch (TensorFileException wrong) {
            throw new UnusableWeightsException(wrong);
        }
    }

    /** Installs a network under a name of the user's choice. */
    public Path install(String name, Path file) throws IOException {
        if (!WeightName.isWellFormed(name) || Backbones.names().contains(name)) {
            throw new IllegalArgumentException(
                    "expected a name of lower-case letters, digits, '.', '_' and '-' that is not a built-in backbone,"
                            + " found '" + name + "'");
        }
        return open(
                file,
                (content, reference, _) ->
                        install(backbone(name, content, file, preprocessing(reference)), content, file, reference));
    }

    /** Installs the weights of a built-in backbone. */
    public Path installNative(WeightName name, Path file, String source) throws IOException {
        Backbone backbone = Backbone.of(name.architecture());
        return open(file, (content, reference, arena) -> {
            try {
                SequencedMap<String, StoredTensor> tensors = OnnxWeights.of(content, backbone, arena);
                compare(backbone, tensors, content, file, reference);
                Preprocessing preprocessing = input.or(() -> stated(reference)).orElse(backbone.preprocessing());
                if (input.isEmpty()) {
                    remarks.accept("preprocessing " + preprocessing.text() + "; set another with --input");
                }
                return store.install(
                        name.text(), backbone, tensors, preprocessing, new Weights.Source(file, source), remarks);
            } catch (IllegalArgumentException others) {
                throw new TensorFileException(
                        file,
                        "does not have the weights of " + name.architecture() + ": " + others.getMessage(),
                        others);
            }
        });
    }

    /**
     * Writes the network of a file under a name made of the file's name and a checksum, unless it is there, and returns what settings
     * call it.
     */
    String convert(Path file) throws IOException {
        return open(file, (content, reference, _) -> {
            Preprocessing preprocessing = preprocessing(reference);
            String name = stem(file) + "-" + checksum(content, preprocessing);
            WeightName installed = new WeightName(name, name);
            Backbone backbone = backbone(name, content, file, preprocessing);
            if (!store.holds(installed)) {
                install(backbone, content, file, reference);
                remarks.accept("uses " + file + " as the backbone " + name
                        + "; to install it: gramian weights import NAME " + file);
            } else {
                touch(store.file(installed));
            }
            return reference(installed);
        });
    }

    /** Sets the time of the last use: 'gramian cache prune' removes the oldest files first. */
    private static void touch(Path converted) throws IOException {
        try {
            Files.setLastModifiedTime(converted, FileTime.from(Instant.now()));
        } catch (FileSystemException _) {
            // removed meanwhile, or of another user
        }
    }

    /** Returns what settings call an installed network. */
    private String reference(WeightName name) {
        return store.equals(WeightStore.ofProcess())
                ? name.text()
                : store.file(name).toAbsolutePath().toString();
    }

    /** Returns what settings call a backbone. */
    String resolve(String nameOrFile) {
        boolean own = WeightName.isWellFormed(nameOrFile)
                && !Backbones.names().contains(nameOrFile)
                && store.holds(new WeightName(nameOrFile, nameOrFile));
        return own ? reference(new WeightName(nameOrFile, nameOrFile)) : nameOrFile;
    }

    private Path install(Backbone backbone, OnnxFile content, Path file, ForeignNetwork reference) throws IOException {
        compare(backbone, content.weights(), content, file, reference);
        return store.install(
                backbone.name(),
                backbone,
                content.weights(),
                backbone.preprocessing(),
                Weights.Source.of(file),
                remarks);
    }

    private void compare(
            Backbone backbone,
            SequencedMap<String, StoredTensor> tensors,
            OnnxFile content,
            Path file,
            ForeignNetwork reference)
            throws IOException {
        Backbone whole = backbone.cutAt(backbone.layers().getLast());
        Weights weights = new Weights(
                backbone.name(), tensors, backbone.preprocessing(), new Provenance("", file.toString(), "", ""));
        int side = reference.side(backbone.about().size());
        int batch = reference.batch();
        boolean scores = backbone.definition().isEmpty()
                && content.graph().nodes().stream()
                        .anyMatch(node -> node.operator().equals("Softmax"));
        try (ParameterSet parameters = weights.load(whole, DType.F32, Device.CPU)) {
            double largest = reference.difference(whole, parameters, scores, noise(batch, side), side);
            if (!(largest <= ForeignNetwork.MOST)) {
                throw new TensorFileException(
                        file,
                        String.format(
                                Locale.ROOT,
                                "expected the results of ONNX Runtime within %.0e, found a difference of %.1e; report"
                                        + " the file's exporter and operators as a bug",
                                ForeignNetwork.MOST,
                                largest));
            }
            remarks.accept(String.format(Locale.ROOT, "same results as ONNX Runtime (%.1e)", largest));
        } catch (IllegalArgumentException wrong) {
            throw new TensorFileException(file, "is not usable as a backbone: " + wrong.getMessage(), wrong);
        }
    }

    private static float[] noise(int batch, int side) {
        SplittableRandom random = new SplittableRandom(1);
        float[] values = new float[batch * COLOURS * side * side];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    private Preprocessing preprocessing(ForeignNetwork reference) {
        if (input.isPresent()) {
            return input.get();
        }
        Optional<Preprocessing> stated = stated(reference);
        if (stated.isEmpty()) {
            remarks.accept("the file does not state its preprocessing; imagenet (" + Preprocessing.TORCHVISION.text()
                    + ") is assumed; set another with --input");
        }
        return stated.orElse(Preprocessing.TORCHVISION);
    }

    private static Optional<Preprocessing> stated(ForeignNetwork reference) {
        return InputOptions.stated(reference.metadata());
    }

    /** Returns the file name without extension, as part of a name of weights. */
    private static String stem(Path file) {
        String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
        String stem = name.substring(0, name.length() - WeightStore.ONNX.length())
                .replaceAll("[^a-z0-9._-]", "-")
                .replaceAll("^[^a-z0-9]+", "");
        return stem.isEmpty() ? "network" : stem.substring(0, Math.min(LONGEST_STEM, stem.length()));
    }

    private static String checksum(OnnxFile content, Preprocessing preprocessing) {
        MessageDigest digest = Sha256.digest();
        digest.update(content.graph().definition().getBytes(StandardCharsets.UTF_8));
        digest.update(preprocessing.text().getBytes(StandardCharsets.UTF_8));
        content.weights().forEach((name, tensor) -> {
            digest.update(name.getBytes(StandardCharsets.UTF_8));
            digest.update(tensor.data().asByteBuffer());
        });
        return Sha256.hex(digest.digest()).substring(0, DIGITS);
    }
}
