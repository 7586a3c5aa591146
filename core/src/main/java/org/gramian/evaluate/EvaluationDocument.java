package org.gramian.evaluate;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.evaluate.Temperature.Outcome;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.model.Logits;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An evaluation as its JSON file spells it. {@code results} follows from the rest: it is there for people and for other
 * programs, and when read it is only compared.
 */
@JsonPropertyOrder({"format", "version", "setting", "classes", "temperature", "results", "predictions"})
record EvaluationDocument(
        String format,
        int version,
        StoredSetting setting,
        List<String> classes,
        StoredTemperature temperature,
        JsonNode results,
        List<StoredPrediction> predictions) {
    static final String FORMAT = "gramian-evaluation";
    static final int VERSION = 1;

    /** The path of the counts in {@link #results}. */
    static final String COUNTS = "/confusion/counts";

    /** A {@link Setting}. */
    record StoredSetting(String protocol, String fold, String fingerprint, long seed) {}

    /** A {@link Temperature}; {@code meaning} is for people. */
    record StoredTemperature(double value, Outcome outcome, String meaning) {}

    /** A {@link ImagePrediction}. */
    record StoredPrediction(String name, int truth, List<Double> logits) {}

    static EvaluationDocument of(Evaluation evaluation, JsonMapper mapper) {
        Setting setting = evaluation.setting();
        Temperature temperature = evaluation.temperature();
        return new EvaluationDocument(
                FORMAT,
                VERSION,
                new StoredSetting(
                        setting.protocol(),
                        setting.fold(),
                        setting.fingerprint().hex(),
                        setting.seed()),
                evaluation.classes(),
                new StoredTemperature(
                        temperature.value(),
                        temperature.outcome(),
                        temperature.outcome().text()),
                mapper.valueToTree(results(evaluation)),
                evaluation.predictions().stream()
                        .map(prediction -> new StoredPrediction(
                                prediction.name(),
                                prediction.truth(),
                                Arrays.stream(prediction.logits().toArray())
                                        .boxed()
                                        .toList()))
                        .toList());
    }

    private static Map<String, Object> results(Evaluation evaluation) {
        ConfusionMatrix confusion = evaluation.confusion();
        Map<String, Object> results = new LinkedHashMap<>();
        results.put("pictures", evaluation.predictions().size());
        results.put("right", evaluation.accuracy().right());
        for (Metric metric : Metric.values()) {
            results.put(metric.key(), metric.of(evaluation));
        }
        results.put("accuracyInterval95", evaluation.accuracy().interval());
        results.put(
                "withoutTemperature", evaluation.calibrated(Temperature.NONE).calibration());
        results.put("reliability", evaluation.calibration().bins());
        results.put(
                "perClass",
                confusion.perClass().stream().map(EvaluationDocument::row).toList());
        Map<String, Object> matrix = new LinkedHashMap<>();
        matrix.put("orientation", ConfusionMatrix.ORIENTATION);
        matrix.put("counts", confusion.counts());
        results.put("confusion", matrix);
        return results;
    }

    private static Map<String, Object> row(ClassScore score) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", score.name());
        row.put("support", score.support());
        row.put("predicted", score.predicted());
        row.put("right", score.right());
        row.put("precision", score.precision());
        row.put("recall", score.recall());
        row.put("f1", score.f1());
        return row;
    }

    /** @throws IllegalArgumentException if the parts do not fit together */
    Evaluation evaluation() {
        return new Evaluation(
                new Setting(setting.protocol(), setting.fold(), new Fingerprint(setting.fingerprint()), setting.seed()),
                classes,
                predictions.stream()
                        .map(prediction -> new ImagePrediction(
                                prediction.name(), prediction.truth(), Logits.of(prediction.logits())))
                        .toList(),
                new Temperature(temperature.value(), temperature.outcome()));
    }
}
