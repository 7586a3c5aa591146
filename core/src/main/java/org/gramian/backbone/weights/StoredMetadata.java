package org.gramian.backbone.weights;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.gramian.backbone.weights.format.WeightFile;

/** The metadata of a safetensors file in the store: what {@link WeightStore} writes and reads back. */
final class StoredMetadata {
    private static final String ARCHITECTURE = "architecture";
    private static final String SOURCE = "source";
    private static final String SOURCE_SHA256 = "source_sha256";
    private static final String LICENCE = "licence";
    private static final String FINGERPRINT = "fingerprint";

    private StoredMetadata() {}

    static Map<String, String> of(Weights weights) {
        Map<String, String> metadata = new TreeMap<>();
        metadata.put("format", "pt"); // what other readers of safetensors look for
        metadata.put(ARCHITECTURE, weights.architecture());
        metadata.put(InputSpec.KEY, weights.preprocessing().text());
        metadata.put(SOURCE, weights.provenance().source());
        metadata.put(SOURCE_SHA256, weights.provenance().sourceSha256());
        metadata.put(LICENCE, weights.provenance().licence());
        metadata.put(FINGERPRINT, weights.provenance().fingerprint());
        return metadata;
    }

    /** The licence that a file states. */
    static Optional<String> licence(WeightFile file) {
        Map<String, String> metadata = file.content().metadata();
        return Optional.ofNullable(metadata.get(LICENCE)).or(() -> Optional.ofNullable(metadata.get("license")));
    }

    /** The provenance that a file of the store states; empty if this program did not write the file. */
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
