package org.gramian.backbone.weights;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.ClassifierTail;
import org.gramian.backbone.PublicFile;
import org.gramian.backbone.weights.format.WeightFile;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * Weights of a network under Gramian's names and in its layout, with their preprocessing.
 *
 * @param tensors tensors by name, in the network's order, valid as long as their arena
 */
public record Weights(
        String architecture,
        SequencedMap<String, StoredTensor> tensors,
        Preprocessing preprocessing,
        Provenance provenance) {
    static final String UNSTATED = "not recorded in the file";

    /** Bytes that are hashed at once: a buffer cannot be larger than 2 GiB. */
    private static final int CHUNK = 1 << 20;

    public Weights {
        tensors = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(tensors));
    }

    /** Reads a weight file of any supported format for a network and computes its fingerprint. */
    public static Weights read(String architecture, Path file, Arena arena, Consumer<String> remarks)
            throws IOException {
        return read(ExpectedParameters.of(architecture), Source.of(file), arena, remarks);
    }

    static Weights read(ExpectedParameters expected, Source source, Arena arena, Consumer<String> remarks)
            throws IOException {
        return of(WeightFile.read(source.path(), arena, remarks), expected, source, remarks);
    }

    static Weights of(TensorFile found, ExpectedParameters expected, Source source, Consumer<String> remarks)
            throws IOException {
        String sha256 = Sha256.hex(Sha256.of(source.path()));
        Optional<PublicFile> published = PublicFile.ofSha256(sha256);
        WeightConversion conversion = WeightConversion.of(found, expected, published.isPresent());
        String licence = conversion.licence().equals(UNSTATED)
                ? published.map(PublicFile::licence).orElse(UNSTATED)
                : conversion.licence();
        conversion.remarks().forEach(remarks);
        requireFinite(source.path(), conversion.tensors());
        Provenance provenance = new Provenance(
                fingerprint(conversion.tensors(), expected.definition()), source.name(), sha256, licence);
        return new Weights(expected.architecture(), conversion.tensors(), conversion.preprocessing(), provenance);
    }

    /** Computes the SHA-256 of names, types, shapes and elements in the network's order, and of its definition. */
    static String fingerprint(SequencedMap<String, StoredTensor> tensors, Optional<String> definition) {
        MessageDigest digest = Sha256.digest();
        definition.ifPresent(text -> digest.update(text.getBytes(StandardCharsets.UTF_8)));
        tensors.forEach((name, tensor) -> {
            String head = name + "\n" + tensor.type() + "\n" + tensor.shape() + "\n";
            digest.update(head.getBytes(StandardCharsets.UTF_8));
            MemorySegment data = tensor.data();
            for (long at = 0; at < data.byteSize(); at += CHUNK) {
                digest.update(
                        data.asSlice(at, Math.min(CHUNK, data.byteSize() - at)).asByteBuffer());
            }
        });
        return Sha256.hex(digest.digest());
    }

    /** Refuses NaN and infinite values, which would spread to every prediction. */
    private static void requireFinite(Path file, SequencedMap<String, StoredTensor> tensors)
            throws TensorFileException {
        for (Map.Entry<String, StoredTensor> entry : tensors.entrySet()) {
            StoredTensor tensor = entry.getValue();
            OptionalLong wrong = tensor.firstNonFinite();
            if (wrong.isPresent()) {
                throw new TensorFileException(
                        file,
                        "expected finite weights, found NaN or infinity at index " + wrong.getAsLong() + " of tensor "
                                + QuotedText.text(entry.getKey()) + "; get the file again from its publisher");
            }
        }
    }

    public ParameterSet load(Backbone backbone, DType type, Device device) {
        requireNetwork(backbone.name());
        return load(backbone.parameters(), backbone.toString(), type, device);
    }

    public ParameterSet load(ClassifierTail tail, DType type, Device device) {
        requireNetwork(tail.network());
        return load(tail.parameters(), tail.toString(), type, device);
    }

    private void requireNetwork(String name) {
        if (!name.equals(architecture)) {
            throw new IllegalArgumentException("expected weights of " + name + ", found " + architecture);
        }
    }

    private ParameterSet load(List<ParameterSpec> wanted, String user, DType type, Device device) {
        List<String> missing = new ArrayList<>();
        List<ParameterSpec> specs = new ArrayList<>();
        for (ParameterSpec spec : wanted) {
            StoredTensor tensor = tensors.get(spec.name());
            if (tensor == null) {
                missing.add(spec.name());
            } else {
                specs.add(new ParameterSpec(
                        spec.name(),
                        spec.shape(),
                        spec.role(),
                        (_, _, requested) -> tensor.toTensor().to(requested)));
            }
        }
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException("the weights from " + provenance.source()
                    + " are usable for features, but " + user + " needs more: " + QuotedText.some(missing));
        }
        return ParameterSet.initialize(specs, new SplittableRandom(0), type, device);
    }

    /** Weight file with its recorded name, which differs from the file name during a download. */
    public record Source(Path path, String name) {
        public static Source of(Path path) {
            return new Source(path, String.valueOf(path.getFileName()));
        }
    }

    /**
     * Origin of weights, for cache keys, model files and reports.
     *
     * @param fingerprint SHA-256 of names, types, shapes and elements in the network's order
     */
    public record Provenance(String fingerprint, String source, String sourceSha256, String licence) {
        /** SHA-256 of a source that was not hashed. */
        static final String UNKNOWN = "unknown";

        // keys of the metadata of a file in the store
        static final String ARCHITECTURE = "architecture";
        static final String LICENCE = "licence";
        private static final String SOURCE = "source";
        private static final String SOURCE_SHA256 = "source_sha256";
        private static final String FINGERPRINT = "fingerprint";

        /** Returns the provenance stated in a file; empty if Gramian did not write it. */
        static Optional<Provenance> of(TensorFile file) {
            Map<String, String> metadata = file.metadata();
            return Optional.ofNullable(metadata.get(FINGERPRINT))
                    .map(fingerprint -> new Provenance(
                            fingerprint,
                            metadata.getOrDefault(SOURCE, UNKNOWN),
                            metadata.getOrDefault(SOURCE_SHA256, UNKNOWN),
                            metadata.getOrDefault(LICENCE, UNSTATED)));
        }

        Map<String, String> metadata() {
            return Map.of(FINGERPRINT, fingerprint, SOURCE, source, SOURCE_SHA256, sourceSha256, LICENCE, licence);
        }
    }
}
