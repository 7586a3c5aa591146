package org.gramian.anomaly;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.backbone.Backbone;
import org.gramian.basis.JsonText;
import org.gramian.image.crop.Preprocessing;
import org.gramian.model.ModelFileException;
import org.gramian.tensor.file.StoredTensor;
import tools.jackson.core.type.TypeReference;

/**
 * The network of a detector in host memory, for runtimes other than libtorch. It needs no libtorch.
 *
 * <pre>{@code
 * x  features {@code [p, d]}: each layer averaged over 3×3 (zeros count), resized bilinearly to rows × columns, joined
 * GAUSSIAN    distance = ‖A(x − μ)‖                        patches.mean μ [d], patches.whitening A [d, d]
 * NEIGHBOURS  distance = min_j ‖A(x − μ) − b_j‖            and patches.bank b [m, d]
 * POSITIONS   distance² = Σ (x − μ)²·w − ‖Vᵀ(x − μ)‖²      patches.mean μ, patches.precision w [p, d], patches.factor V [p, d, r]
 * map = distance / patchScale
 * score = mean of the largest {@link #top} of the map; if wholeScale > 0 the mean of that and ‖A'(x̄ − μ')‖ / wholeScale
 *                                                          x̄ mean over p, whole.mean μ', whole.whitening A'
 * }</pre>
 *
 * @param backbone cut at the layers
 * @param kind GAUSSIAN, NEIGHBOURS or POSITIONS
 * @param rows rows of the map
 * @param columns columns of the map
 * @param tensors float32 tensors by name; those of the backbone with the prefix {@code backbone.}
 * @since 0.1
 */
@SuppressWarnings("exports") // for the engines of the application
public record DetectorNetwork(
        Backbone backbone, String kind, int rows, int columns, Map<String, StoredTensor> tensors, DetectorCard card) {
    private static final String SCORES = "scores";
    private static final String PEAKS = "peaks";

    public DetectorNetwork {
        tensors = Collections.unmodifiableMap(new LinkedHashMap<>(tensors));
    }

    /**
     * Reads a model file; its tensors live as long as the arena.
     *
     * @throws ModelFileException if the file is not a usable detector
     */
    public static DetectorNetwork read(Path file, Arena arena) throws ModelFileException {
        return DetectorFile.network(file, arena);
    }

    /** Returns how many positions the score averages. */
    public int top() {
        return AnomalyModel.topCount(rows * columns);
    }

    /** Returns the card and the architecture as text, from which {@link #card(Map)} restores the card. */
    public SequencedMap<String, String> metadata() {
        SequencedMap<String, String> texts = DetectorFile.texts(backbone, kind, card);
        texts.put("threshold", Double.toString(card.threshold()));
        texts.put(SCORES, JsonText.of(card.calibration()));
        texts.put(PEAKS, JsonText.of(card.peaks()));
        return texts;
    }

    /** Returns whether metadata are those of a detector. */
    public static boolean isDetector(Map<String, String> metadata) {
        return DetectorFile.FORMAT.equals(metadata.get("format"));
    }

    /**
     * Restores a card from metadata.
     *
     * @throws IllegalArgumentException if an entry is missing or wrong
     */
    public static DetectorCard card(Map<String, String> metadata) {
        return card(metadata, numbers(metadata, SCORES), numbers(metadata, PEAKS));
    }

    private static List<Double> numbers(Map<String, String> metadata, String key) {
        double[] numbers = JsonText.parse(JsonText.text(metadata, key), double[].class);
        if (!Arrays.stream(numbers).allMatch(Double::isFinite)) {
            throw new IllegalArgumentException("expected finite numbers as " + key);
        }
        return Arrays.stream(numbers).boxed().toList();
    }

    static DetectorCard card(Map<String, String> texts, List<Double> scores, List<Double> peaks) {
        return new DetectorCard(
                Preprocessing.parse(JsonText.text(texts, "preprocessing")),
                JsonText.parse(texts, "layers", new TypeReference<List<String>>() {}),
                integer(texts, "width"),
                integer(texts, "height"),
                integer(texts, "tile"),
                JsonText.number(texts, "patchScale"),
                JsonText.number(texts, "wholeScale"),
                JsonText.number(texts, "falseAlarms"),
                scores,
                peaks,
                JsonText.parse(texts, "origin", new TypeReference<LinkedHashMap<String, String>>() {}),
                JsonText.parse(texts, "metrics", new TypeReference<LinkedHashMap<String, Double>>() {}));
    }

    private static int integer(Map<String, String> texts, String key) {
        double value = JsonText.number(texts, key);
        if (value != Math.rint(value) || Math.abs(value) > 1 << 24) {
            throw new IllegalArgumentException(
                    "expected a whole number as " + key + ", found " + JsonText.text(texts, key));
        }
        return (int) value;
    }
}
