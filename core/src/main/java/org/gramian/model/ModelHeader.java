package org.gramian.model;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Preprocessing;
import org.gramian.model.OpenSet.KnownClasses;
import org.gramian.pooling.Pooling;
import tools.jackson.core.type.TypeReference;

/**
 * Architecture and card of a model: a model file without its parameters. The file's metadata are texts by key:
 *
 * <pre>
 * format        gramian-model
 * version       1
 * backbone      googlenet
 * layer         inception_4e
 * network       ONNX file in Base64      definition of a backbone that is not built in; else absent
 * pooling       conv:512/rbf:sigma=mean/spd:128/relu/triu/root/l2
 * normalized    false                     whether scores are batch-normalized
 * classes       ["fabric","foliage"]
 * preprocessing BGR mean=104,117,123 std=1,1,1
 * crops         paper:224
 * temperature   1.25
 * origin        {"seed":"7"}
 * metrics       {"accuracy":0.753}
 * known         {"rate":0.01,"distance":{"median":9.1,"spread":1.2},...}   if the model recognizes images of no class
 * </pre>
 *
 * <p>All other keys are required and no further one is allowed, since an unknown key might change the meaning of a model.
 *
 * @param backbone images to features
 * @param head features to scores
 * @param card classes, preprocessing, origin, metrics
 * @since 0.1
 */
@SuppressWarnings("exports") // for the engines and the training
public record ModelHeader(Backbone backbone, Head head, ModelCard card) {
    static final String BACKBONE = "backbone";
    static final String HEAD = "head";

    private static final String FORMAT = "gramian-model";
    private static final int VERSION = 1;

    /** Crops of an image take 12 bytes per pixel: 600 MB. */
    private static final long MAX_CROP_PIXELS = 50_000_000;

    /** @throws IllegalArgumentException if there are not as many class names as scores, or the crops do not fit */
    public ModelHeader {
        if (head.classes() != card.classes().size()) {
            throw new IllegalArgumentException("expected a name for every class, found "
                    + card.classes().size() + " names for " + head.classes() + " classes");
        }
        long cropPixels = (long) card.crops().testing().count()
                * card.crops().size()
                * card.crops().size();
        if (cropPixels > MAX_CROP_PIXELS) {
            throw new IllegalArgumentException(
                    "expected crops of at most " + MAX_CROP_PIXELS + " pixels together, found " + cropPixels + " in "
                            + card.crops().text());
        }
        head.pooling().descriptorSize(backbone.channels());
        backbone.features(card.crops().size(), card.crops().size());
    }

    /** Returns the header of a model. */
    public static ModelHeader of(Model model, ModelCard card) {
        return new ModelHeader(model.backbone(), model.head(), card);
    }

    /**
     * Parses the result of {@link #texts}.
     *
     * @throws IllegalArgumentException if it is no header of this version; the message says what was expected and found
     */
    public static ModelHeader of(Map<String, String> texts) {
        requireFormat(texts);
        requireVersion(texts.getOrDefault("version", ""));
        return parse(texts);
    }

    private static void requireFormat(Map<String, String> texts) {
        String format = texts.get("format");
        if ("gramian-detector".equals(format)) {
            throw new IllegalArgumentException(
                    "this is a detector of anomalies, not a classifier; use it by 'gramian predict', 'gramian serve' or"
                            + " Detector.load");
        }
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

    private static ModelHeader parse(Map<String, String> texts) {
        var card = new ModelCard(
                JsonText.parse(texts, "classes", new TypeReference<List<String>>() {}),
                Preprocessing.parse(JsonText.text(texts, "preprocessing")),
                CropPlan.parse(JsonText.text(texts, "crops")),
                JsonText.number(texts, "temperature"),
                JsonText.parse(texts, "origin", new TypeReference<LinkedHashMap<String, String>>() {}),
                JsonText.parse(texts, "metrics", new TypeReference<LinkedHashMap<String, Double>>() {}),
                Optional.ofNullable(texts.get(KnownClasses.PREFIX)).map(json -> JsonText.parse(json, OpenSet.class)));
        Backbone backbone = backbone(texts, card.preprocessing());
        Pooling pooling = Pooling.parse(JsonText.text(texts, "pooling")).resolve(backbone, Integer.MAX_VALUE);
        ModelHeader header = new ModelHeader(
                backbone, new Head(pooling, card.classes().size(), flag(JsonText.text(texts, "normalized"))), card);
        Set<String> known = header.texts().sequencedKeySet();
        for (String key : texts.keySet()) {
            if (!known.contains(key)) {
                throw new IllegalArgumentException("expected the metadata " + String.join(", ", known) + ", found "
                        + QuotedText.text(key) + " in addition");
            }
        }
        return header;
    }

    private static Backbone backbone(Map<String, String> texts, Preprocessing preprocessing) {
        String name = JsonText.text(texts, "backbone");
        String definition = texts.get("network");
        Backbone whole = definition == null ? Backbone.of(name) : Backbone.of(name, definition, preprocessing);
        return whole.cutAt(JsonText.text(texts, "layer"));
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

    /** Returns the header as text by key, as in a model file. */
    public SequencedMap<String, String> texts() {
        SequencedMap<String, String> texts = new LinkedHashMap<>();
        texts.put("format", FORMAT);
        texts.put("version", Integer.toString(VERSION));
        texts.put("backbone", backbone().name());
        texts.put("layer", backbone().layer());
        backbone().definition().ifPresent(definition -> texts.put("network", definition));
        texts.put("pooling", head().pooling().text());
        texts.put("normalized", Boolean.toString(head().normalized()));
        texts.put("classes", JsonText.of(card.classes()));
        texts.put("preprocessing", card.preprocessing().text());
        texts.put("crops", card.crops().text());
        texts.put("temperature", Double.toString(card.temperature()));
        texts.put("origin", JsonText.of(card.origin()));
        texts.put("metrics", JsonText.of(card.metrics()));
        card.openSet().ifPresent(openSet -> texts.put(KnownClasses.PREFIX, JsonText.of(openSet)));
        return texts;
    }

    /** Returns every parameter by its name in the file: {@code backbone.NAME} and {@code head.NAME}. */
    public SequencedMap<String, ParameterSpec> parameters() {
        SequencedMap<String, ParameterSpec> all = new LinkedHashMap<>();
        add(backbone.parameters(), BACKBONE, all);
        add(head.parameters(backbone.channels()), HEAD, all);
        if (card.openSet().isPresent()) {
            add(KnownClasses.parameters(descriptorSize(), head.classes()), KnownClasses.PREFIX, all);
        }
        return all;
    }

    private static void add(List<ParameterSpec> specs, String part, SequencedMap<String, ParameterSpec> all) {
        for (ParameterSpec spec : specs) {
            ParameterSpec named = spec.under(part);
            all.put(named.name(), named);
        }
    }

    /** Returns the length of a descriptor. */
    public long descriptorSize() {
        return head.pooling().descriptorSize(backbone.channels());
    }

    /** Returns the number of values of all parameters with this name prefix, fixed ones included. */
    public long count(String prefix) {
        return parameters().values().stream()
                .filter(spec -> spec.name().startsWith(prefix))
                .mapToLong(spec -> spec.shape().elements())
                .sum();
    }
}
