package org.gramian.backbone.weights;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightConversion.InputSpec;
import org.gramian.backbone.weights.Weights.Provenance;
import org.gramian.backbone.weights.format.WeightFile;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/** The metadata of a safetensors file in the store: what {@link WeightStore} writes and reads back. */
final class StoredMetadata {
    private static final String ARCHITECTURE = "architecture";
    private static final String SOURCE = "source";
    private static final String SOURCE_SHA256 = "source_sha256";
    private static final String LICENCE = "licence";
    private static final String FINGERPRINT = "fingerprint";

    /** Definition of a network that is not built in. */
    static final String NETWORK = "network";

    private StoredMetadata() {}

    static Map<String, String> of(Weights weights, Optional<String> definition) {
        Map<String, String> metadata = new TreeMap<>();
        metadata.put("format", "pt"); // what other readers of safetensors look for
        metadata.put(ARCHITECTURE, weights.architecture());
        metadata.put(InputSpec.KEY, weights.preprocessing().text());
        metadata.put(SOURCE, weights.provenance().source());
        metadata.put(SOURCE_SHA256, weights.provenance().sourceSha256());
        metadata.put(LICENCE, weights.provenance().licence());
        metadata.put(FINGERPRINT, weights.provenance().fingerprint());
        definition.ifPresent(text -> metadata.put(NETWORK, text));
        return metadata;
    }

    /**
     * Returns the network that a file defines; empty if it has weights only.
     *
     * @throws TensorFileException if the definition is invalid
     */
    static Optional<Backbone> backbone(TensorFile file) throws TensorFileException {
        String definition = file.metadata().get(NETWORK);
        if (definition == null) {
            return Optional.empty();
        }
        String name = file.metadata().getOrDefault(ARCHITECTURE, "");
        Preprocessing preprocessing =
                InputSpec.parse(file.metadata().getOrDefault(InputSpec.KEY, "")).orElse(Preprocessing.TORCHVISION);
        try {
            return Optional.of(Backbone.of(name, definition, preprocessing));
        } catch (IllegalArgumentException | ArithmeticException invalid) {
            throw new TensorFileException(
                    file.path(), "does not define a usable network: " + invalid.getMessage(), invalid);
        }
    }

    /** Returns the network stated in a file. */
    static Optional<String> architecture(WeightFile file) {
        return Optional.ofNullable(file.content().metadata().get(ARCHITECTURE));
    }

    /** Returns the licence stated in a file. */
    static Optional<String> licence(WeightFile file) {
        Map<String, String> metadata = file.content().metadata();
        return Optional.ofNullable(metadata.get(LICENCE)).or(() -> Optional.ofNullable(metadata.get("license")));
    }

    /** Returns the provenance stated in a file; empty if Gramian did not write it. */
    static Optional<Provenance> provenance(WeightFile file) {
        Map<String, String> metadata = file.content().metadata();
        String fingerprint = metadata.get(FINGERPRINT);
        if (fingerprint == null) {
            return Optional.empty();
        }
        return Optional.of(new Provenance(
                fingerprint,
                metadata.getOrDefault(SOURCE, Provenance.UNKNOWN),
                metadata.getOrDefault(SOURCE_SHA256, Provenance.UNKNOWN),
                metadata.getOrDefault(LICENCE, Weights.UNSTATED)));
    }
}
