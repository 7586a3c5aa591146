package org.gramian.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import org.gramian.anomaly.DetectorCard;
import org.gramian.anomaly.Inspection;
import org.gramian.anomaly.evaluate.DetectorEvaluation;
import org.gramian.evaluate.Proportion;
import org.gramian.report.Figures.LabelledValue;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Results and measures of a detector, as JSON and as text. */
public final class DetectorMeasures {
    private DetectorMeasures() {}

    /** Returns the result of an image. */
    public static Map<String, Object> json(Inspection found, DetectorCard card) {
        LinkedHashMap<String, @Nullable Object> json = new LinkedHashMap<>(found.asMap());
        json.put("threshold", finite(card.threshold()));
        json.putLast("regions", found.regions());
        return json;
    }

    /** Returns the content of a card by label. */
    public static Map<String, Object> json(DetectorCard card) {
        Map<String, @Nullable Object> content = new LinkedHashMap<>();
        content.put("layers", card.layers());
        content.put("width", card.width());
        content.put("height", card.height());
        content.put("tile", card.tile());
        content.put("preprocessing", card.preprocessing().text());
        content.put("good images", card.calibration().size());
        content.put("false alarms", card.falseAlarms());
        content.put("threshold", finite(card.threshold()));
        content.put("map threshold", card.mapThreshold());
        content.putAll(card.metrics());
        content.putAll(card.origin());
        return content;
    }

    /** Returns a threshold for JSON: null if no image can be anomalous. */
    public static @Nullable Double finite(double threshold) {
        return Double.isFinite(threshold) ? threshold : null;
    }

    /** Returns the measures and the result of each image, the highest score first; what cannot be computed is null. */
    public static Map<String, Object> json(DetectorEvaluation evaluation, double threshold) {
        List<DetectorEvaluation.Result> results = new ArrayList<>(evaluation.results());
        results.sort(
                Comparator.comparingDouble(DetectorEvaluation.Result::score).reversed());
        long anomalous =
                results.stream().filter(result -> result.image().anomalous()).count();
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("format", "gramian-detector-evaluation");
        json.put("version", 1);
        json.put("good", results.size() - anomalous);
        json.put("anomalous", anomalous);
        json.put("image_auroc", orNull(evaluation.imageAuroc()));
        json.put("pixel_auroc", orNull(evaluation.pixelAuroc()));
        json.put("aupro", orNull(evaluation.aupro()));
        json.put("f1", anomalous > 0 ? evaluation.f1() : null);
        json.put("recall", anomalous > 0 ? evaluation.recall() : null);
        json.put("false_alarms", evaluation.falseAlarms().map(Proportion::value).orElse(null));
        json.put(
                "false_alarms_95",
                evaluation.falseAlarms().map(Proportion::interval).orElse(null));
        json.put("threshold", finite(threshold));
        json.put("images", results.stream().map(DetectorMeasures::json).toList());
        return json;
    }

    private static Map<String, Object> json(DetectorEvaluation.Result result) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("image", result.image().file().toString());
        json.put("kind", result.image().kind());
        json.put("defective", result.image().anomalous());
        json.put("score", result.score());
        json.put("p_value", result.pValue());
        json.put("anomalous", result.anomalous());
        return json;
    }

    private static @Nullable Double orNull(OptionalDouble value) {
        return value.isPresent() ? value.getAsDouble() : null;
    }

    /** Returns the measures of such a document as text. */
    public static List<LabelledValue> texts(JsonNode json, DetectorCard card) {
        List<LabelledValue> values = new ArrayList<>();
        int good = json.get("good").intValue();
        values.add(new LabelledValue("test images", good + " good, " + json.get("anomalous") + " anomalous"));
        percent(values, "image AUROC", json.get("image_auroc"));
        percent(values, "pixel AUROC", json.get("pixel_auroc"));
        percent(values, "AUPRO", json.get("aupro"));
        values.add(new LabelledValue(
                "threshold",
                String.format(
                        Locale.ROOT, "%.4f for false alarms of at most %s", card.threshold(), card.falseAlarms())));
        if (good > 0) {
            int alarms = (int) Math.round(json.get("false_alarms").doubleValue() * good);
            values.add(new LabelledValue("false alarms", Figures.withInterval(new Proportion(alarms, good))));
        }
        percent(values, "recall", json.get("recall"));
        percent(values, "F1", json.get("f1"));
        return values;
    }

    private static void percent(List<LabelledValue> values, String label, JsonNode share) {
        if (share.isNumber()) {
            values.add(new LabelledValue(label, Figures.percent(share.doubleValue()) + " %"));
        }
    }
}
