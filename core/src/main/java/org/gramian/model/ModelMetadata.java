package org.gramian.model;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.backbone.Backbone;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Preprocessing;
import org.gramian.pooling.Pooling;

/**
 * The metadata of a model file: text by key, which {@link ModelHeader} is written as and read from.
 *
 * <pre>
 * format        gramian-model
 * version       1
 * backbone      googlenet
 * layer         inception_4e
 * pooling       conv:512/rbf:sigma=mean/spd:128/relu/triu/root/l2
 * normalized    false                     whether scores are batch-normalized
 * classes       ["fabric","foliage"]
 * preprocessing BGR mean=104,117,123 std=1,1,1
 * crops         paper:224
 * temperature   1.25
 * origin        {"seed":"7"}
 * metrics       {"accuracy":0.753}
 * </pre>
 *
 * <p>All of these must be there and nothing else: what a reader does not know might change what a model means.
 */
final class ModelMetadata {
    static final String FORMAT = "gramian-model";
    static final int VERSION = 1;

    private static final String FORMAT_KEY = "format";
    private static final String VERSION_KEY = "version";

    private final Map<String, String> texts;

    private ModelMetadata(Map<String, String> texts) {
        this.texts = texts;
    }

    static SequencedMap<String, String> of(ModelHeader header) {
        ModelCard card = header.card();
        SequencedMap<String, String> texts = new LinkedHashMap<>();
        texts.put(FORMAT_KEY, FORMAT);
        texts.put(VERSION_KEY, Integer.toString(VERSION));
        texts.put("backbone", header.backbone().name());
        texts.put("layer", header.backbone().layer());
        texts.put("pooling", header.head().pooling().text());
        texts.put("normalized", Boolean.toString(header.head().normalized()));
        texts.put("classes", JsonText.of(card.classes()));
        texts.put("preprocessing", card.preprocessing().text());
        texts.put("crops", card.crops().text());
        texts.put("temperature", Double.toString(card.temperature()));
        texts.put("origin", JsonText.of(card.origin()));
        texts.put("metrics", JsonText.of(card.metrics()));
        return texts;
    }

    /**
     * Reads the header that metadata hold.
     *
     * @throws IllegalArgumentException if they hold none of this version; the message says what was expected and found
     */
    static ModelHeader read(Map<String, String> texts) {
        requireFormat(texts);
        requireVersion(texts.getOrDefault(VERSION_KEY, ""));
        return new ModelMetadata(texts).header();
    }

    private static void requireFormat(Map<String, String> texts) {
        String format = texts.get(FORMAT_KEY);
        if (!FORMAT.equals(format)) {
            String found = format == null ? "without a format" : "of format " + QuotedText.text(format);
            throw new IllegalArgumentException("expected a model written by 'gramian train', found a safetensors file "
                    + found + "; if it holds backbone weights, pass it to 'gramian train' with --weights");
        }
    }

    private static void requireVersion(String version) {
        if (!version.matches("[1-9][0-9]{0,8}")) {
            throw new IllegalArgumentException(
                    "expected a format version of at least 1, found " + QuotedText.text(version));
        }
        if (Integer.parseInt(version) > VERSION) {
            throw new IllegalArgumentException("is a model of format version " + version
                    + ", this program reads versions up to " + VERSION + "; update Gramian");
        }
    }

    private ModelHeader header() {
        var card = new ModelCard(
                JsonText.strings("classes", text("classes")),
                Preprocessing.parse(text("preprocessing")),
                CropPlan.parse(text("crops")),
                JsonText.number("temperature", text("temperature")),
                JsonText.texts("origin", text("origin")),
                JsonText.numbers("metrics", text("metrics")));
        Backbone backbone = Backbone.of(text("backbone"), text("layer"));
        Pooling pooling = Pooling.parse(text("pooling"));
        ModelHeader header =
                new ModelHeader(backbone, new Head(pooling, card.classes().size(), flag(text("normalized"))), card);
        Set<String> known = of(header).sequencedKeySet();
        for (String key : texts.keySet()) {
            if (!known.contains(key)) {
                throw new IllegalArgumentException("expected the metadata " + String.join(", ", known) + ", found "
                        + QuotedText.text(key) + " in addition");
            }
        }
        return header;
    }

    private String text(String key) {
        String text = texts.get(key);
        if (text == null) {
            throw new IllegalArgumentException("expected the metadata " + QuotedText.text(key) + ", found none");
        }
        return text;
    }

    private static boolean flag(String text) {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default ->
                throw new IllegalArgumentException(
                        "expected true or false as normalized, found " + QuotedText.text(text));
        };
    }
}
