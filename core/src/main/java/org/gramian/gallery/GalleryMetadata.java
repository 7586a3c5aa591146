package org.gramian.gallery;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;

/**
 * The metadata of a gallery's file: text by key.
 *
 * <pre>
 * format       gramian-gallery
 * version      1
 * classes      ["fabric","foliage"]
 * model        SHA-256 of the model's file
 * descriptor   8256                             length of the model's descriptors
 * left_out     {"TRAINING":0,"TEST":1200}       images that are not here
 * </pre>
 */
final class GalleryMetadata {
    private static final String FORMAT = "gramian-gallery";
    private static final int VERSION = 1;
    private static final List<String> KEYS = List.of("format", "version", "classes", "model", "descriptor", "left_out");

    private GalleryMetadata() {}

    static Map<String, String> of(Gallery.About about) {
        Map<String, String> texts = new LinkedHashMap<>();
        texts.put("format", FORMAT);
        texts.put("version", Integer.toString(VERSION));
        texts.put("classes", JsonText.of(about.classes()));
        texts.put("model", about.model());
        texts.put("descriptor", Integer.toString(about.descriptorSize()));
        texts.put("left_out", JsonText.of(about.leftOut()));
        return texts;
    }

    /** @throws IllegalArgumentException if it is not that of a gallery of this version */
    static Gallery.About read(Map<String, String> texts) {
        if (!FORMAT.equals(texts.get("format"))) {
            throw new IllegalArgumentException(
                    "expected a gallery written by 'gramian train', found a safetensors file "
                            + (texts.containsKey("format")
                                    ? "of format " + QuotedText.text(text(texts, "format"))
                                    : "without a format"));
        }
        int version = number("version", text(texts, "version"));
        if (version > VERSION) {
            throw new IllegalArgumentException("is a gallery of format version " + version
                    + ", this program reads versions up to " + VERSION + "; update Gramian");
        }
        for (String key : texts.keySet()) {
            if (!KEYS.contains(key)) {
                throw new IllegalArgumentException("expected the metadata " + String.join(", ", KEYS) + ", found "
                        + QuotedText.text(key) + " in addition");
            }
        }
        return new Gallery.About(
                JsonText.strings("classes", text(texts, "classes")),
                text(texts, "model"),
                number("descriptor", text(texts, "descriptor")),
                leftOut(text(texts, "left_out")));
    }

    private static Map<Part, Integer> leftOut(String json) {
        Map<Part, Integer> all = new EnumMap<>(Part.class);
        JsonText.numbers("left_out", json).forEach((name, images) -> {
            if (images != Math.rint(images) || images > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("expected whole numbers as left_out, found " + images);
            }
            all.put(part(name), images.intValue());
        });
        return all;
    }

    private static Part part(String name) {
        for (Part part : Part.values()) {
            if (part.name().equals(name)) {
                return part;
            }
        }
        throw new IllegalArgumentException("expected the name of a part in left_out, found " + QuotedText.text(name));
    }

    private static int number(String key, String text) {
        if (!text.matches("[1-9][0-9]{0,8}")) {
            throw new IllegalArgumentException(
                    "expected a whole number of at least 1 as " + key + ", found " + QuotedText.text(text));
        }
        return Integer.parseInt(text);
    }

    private static String text(Map<String, String> texts, String key) {
        String text = texts.get(key);
        if (text == null) {
            throw new IllegalArgumentException("expected the metadata " + QuotedText.text(key) + ", found none");
        }
        return text;
    }
}
