package org.gramian.train.feature;

import java.nio.ByteBuffer;
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
 * Everything that features depend on besides the image and the crop.
 *
 * <p>The recipe is part of every cache key and has its own folder in the cache, described by {@code recipe.json}.
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

    /** Returns the content of {@code recipe.json}. */
    String json() {
        JsonMapper mapper =
                JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
        return mapper.writeValueAsString(parts()) + "\n";
    }

    /** Returns the SHA-256 of all parts. */
    public String fingerprint() {
        String text = parts().entrySet().stream()
                .map(part -> part.getKey() + "=" + part.getValue().length() + ":" + part.getValue() + "\n")
                .collect(Collectors.joining());
        return Sha256.hex(Sha256.of(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Returns the folder name: backbone, layer and the start of the fingerprint. */
    String folder() {
        String name = (backbone + "-" + layer).replaceAll("[^A-Za-z0-9._-]", "_");
        return name.substring(0, Math.min(60, name.length())) + "-"
                + fingerprint().substring(0, 16);
    }

    /**
     * Returns the cache key of a crop's feature.
     *
     * @param image SHA-256 of the image's file
     * @param crop {@link org.gramian.image.crop.Crops#key}
     */
    Key key(byte[] image, String crop) {
        String text = fingerprint() + "\n" + Sha256.hex(image) + "\n" + crop;
        return Key.of(Sha256.of(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Cache key of a feature: the SHA-256 of recipe, image and crop. */
    record Key(long first, long second, long third, long fourth) {
        static final int BYTES = 4 * Long.BYTES;

        static Key of(byte[] hash) {
            return read(ByteBuffer.wrap(hash));
        }

        /** Reads a key at the position of a big-endian buffer. */
        static Key read(ByteBuffer bytes) {
            return new Key(bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong());
        }

        void write(ByteBuffer bytes) {
            bytes.putLong(first).putLong(second).putLong(third).putLong(fourth);
        }
    }
}
