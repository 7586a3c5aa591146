package org.gramian.train.feature;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.gramian.basis.Sha256;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * How features are made from crops: all that they depend on besides the image and the crop.
 *
 * <p>Features of two recipes never meet: the recipe is part of every key, and has a folder of its own in the cache, with
 * a {@code recipe.json} for people to read.
 *
 * @param backbone name of the network
 * @param layer where it is cut
 * @param weights fingerprint of its weights
 * @param preprocessing what the bytes of an image become
 * @param type {@link DType#F32}, or {@link DType#F16} at half the size
 * @param engine what computes: results of another one may differ in the last bits
 */
public record FeatureRecipe(
        String backbone, String layer, String weights, Preprocessing preprocessing, DType type, String engine) {
    /**
     * The version of everything between a file and its crop: decoding, resizing, where crops are cut. Raise it when the
     * pixels of a crop change; a test watches over it.
     */
    static final int PIXELS = 1;

    /**
     * The version of the networks' arithmetic: what a backbone computes of given pixels and weights. Raise it when features
     * change by more than rounding; a test watches over it.
     */
    static final int NETWORKS = 1;

    /** @throws IllegalArgumentException if the type is none that features are kept in */
    public FeatureRecipe {
        if (type != DType.F32 && type != DType.F16) {
            throw new IllegalArgumentException("expected features as f32 or f16, found " + type);
        }
    }

    /** All parts by name. */
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

    /** All parts, for people. */
    String json() {
        JsonMapper mapper =
                JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
        return mapper.writeValueAsString(parts()) + "\n";
    }

    /** The SHA-256 of all parts. */
    public String fingerprint() {
        String text = parts().entrySet().stream()
                .map(part -> part.getKey() + "=" + part.getValue().length() + ":" + part.getValue() + "\n")
                .collect(Collectors.joining());
        return Sha256.hex(Sha256.of(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** The name of its folder: for people first, then enough of the fingerprint to tell recipes apart. */
    String folder() {
        String name = (backbone + "-" + layer).replaceAll("[^A-Za-z0-9._-]", "_");
        return name.substring(0, Math.min(60, name.length())) + "-"
                + fingerprint().substring(0, 16);
    }

    /**
     * The key of one crop's feature.
     *
     * @param image SHA-256 of the image's file
     * @param crop {@link org.gramian.image.crop.Crops#key}
     */
    FeatureKey key(byte[] image, String crop) {
        String text = fingerprint() + "\n" + Sha256.hex(image) + "\n" + crop;
        return FeatureKey.of(Sha256.of(text.getBytes(StandardCharsets.UTF_8)));
    }
}
