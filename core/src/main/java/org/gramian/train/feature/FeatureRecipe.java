package org.gramian.train.feature;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.gramian.basis.Sha256;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;

/**
 * Everything that features depend on besides the image and the crop.
 *
 * <p>All but the layer decide which file of the cache a feature is in; a file may hold several layers.
 *
 * @param backbone name of the backbone
 * @param layer whose output is the feature
 * @param weights fingerprint of its weights
 * @param preprocessing of images
 * @param type {@link DType#F32}, or {@link DType#F16} at half the size
 * @param engine library, device and batch size, which change the last bits
 */
public record FeatureRecipe(
        String backbone, String layer, String weights, Preprocessing preprocessing, DType type, String engine) {
    /**
     * Version of decoding, resizing and cropping. Increment it when the pixels of a crop change; a test checks it.
     */
    static final int PIXELS = 1;

    /**
     * Version of the backbones. Increment it when features change by more than rounding; a test checks it.
     */
    static final int NETWORKS = 1;

    /** @throws IllegalArgumentException if the type is neither F32 nor F16 */
    public FeatureRecipe {
        if (type != DType.F32 && type != DType.F16) {
            throw new IllegalArgumentException("expected features as f32 or f16, found " + type);
        }
    }

    /** Returns all parts by name. */
    Map<String, String> parts() {
        Map<String, String> parts = new LinkedHashMap<>();
        parts.put("backbone", backbone);
        parts.put("layer", layer);
        parts.put("weights", weights);
        parts.put("preprocessing", preprocessing.text());
        parts.put("type", type.name());
        parts.put("engine", engine);
        parts.put("pixels", Integer.toString(PIXELS));
        parts.put("networks", Integer.toString(NETWORKS));
        return parts;
    }

    /** Returns the SHA-256 of all parts. */
    public String fingerprint() {
        return fingerprint(parts());
    }

    static String fingerprint(Map<String, String> parts) {
        String text = parts.entrySet().stream()
                .map(part -> part.getKey() + "=" + part.getValue().length() + ":" + part.getValue() + "\n")
                .collect(Collectors.joining());
        return Sha256.hex(Sha256.of(text.getBytes(StandardCharsets.UTF_8)));
    }
}
