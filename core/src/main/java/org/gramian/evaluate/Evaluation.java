package org.gramian.evaluate;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.FoldSet;
import org.gramian.model.Logits;

/**
 * All predictions of one fold.
 *
 * @param classes class names; truths and scores are in their order
 * @param predictions at least one; sorted by name, so that no metric depends on the order
 * @param temperature divides the scores before the softmax
 * @since 0.1
 */
public record Evaluation(
        Setting setting, List<String> classes, List<ImagePrediction> predictions, Temperature temperature) {
    /** @throws IllegalArgumentException if names repeat, there are no predictions, or scores do not fit the classes */
    public Evaluation {
        classes = List.copyOf(classes);
        predictions = predictions.stream()
                .sorted(Comparator.comparing(ImagePrediction::name))
                .toList();
        requireDistinct(classes, "classes");
        requireDistinct(predictions.stream().map(ImagePrediction::name).toList(), "images");
        for (ImagePrediction prediction : predictions) {
            if (prediction.logits().size() != classes.size()) {
                throw new IllegalArgumentException("%s: expected a score for each of %d classes, found %d"
                        .formatted(
                                QuotedText.bare(prediction.name()),
                                classes.size(),
                                prediction.logits().size()));
            }
        }
    }

    /** Creates an evaluation without calibration: {@code T = 1}. */
    public Evaluation(Setting setting, List<String> classes, List<ImagePrediction> predictions) {
        this(setting, classes, predictions, Temperature.NONE);
    }

    /** Returns the same scores under another temperature, fitted on other images. */
    public Evaluation calibrated(Temperature other) {
        return new Evaluation(setting, classes, predictions, other);
    }

    /** Returns the fraction of correctly classified images. */
    public Proportion accuracy() {
        return top(1);
    }

    /** Returns the top-k accuracy. */
    public Proportion top(int count) {
        long right = predictions.stream()
                .filter(prediction -> prediction.logits().rank(prediction.truth()) < count)
                .count();
        return new Proportion((int) right, predictions.size());
    }

    /** Returns the confusion matrix. */
    public ConfusionMatrix confusion() {
        return ConfusionMatrix.of(classes, predictions);
    }

    /** Returns the calibration of the probabilities. */
    public Calibration calibration() {
        return Calibration.of(predictions, temperature);
    }

    /**
     * Returns the measures as a JSON object: images, accuracy with its 95 % interval, other metrics, calibration, precision and recall
     * of each class, and the confusion matrix, whose rows are the truth.
     */
    public String toJson() {
        return JsonText.of(asMap());
    }

    /** Returns the content of {@link #toJson}, by name. */
    public SequencedMap<String, Object> asMap() {
        SequencedMap<String, Object> json = JsonText.object("images", predictions.size());
        for (Metric metric : Metric.values()) {
            json.put(metric.key(), metric.of(this));
        }
        json.put("accuracy95", accuracy().interval());
        json.put("temperature", temperature.value());
        json.put("bins", calibration().bins());
        json.put("classes", confusion().perClass());
        json.put("confusion", confusion().counts());
        return json;
    }

    private static void requireDistinct(List<String> names, String what) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("expected " + what + " to evaluate, found none");
        }
        Set<String> seen = new HashSet<>();
        for (String name : names) {
            if (!seen.add(name)) {
                throw new IllegalArgumentException(
                        "expected different " + what + " to evaluate, found " + QuotedText.text(name) + " twice");
            }
        }
    }

    /**
     * Prediction for one labelled image.
     *
     * @param logits finite, one per class, of magnitude at most {@value #MOST}; of several crops, {@link
     *     Logits#meanProbability}
     */
    public record ImagePrediction(String name, int truth, Logits logits) {
        /** Above the scores of any network, and small enough that no sum or quotient of scores overflows. */
        public static final double MOST = 1e100;

        /** @throws IllegalArgumentException with the image's name, if a score is not finite or the truth is no class */
        public ImagePrediction {
            if (name.isEmpty()) {
                throw new IllegalArgumentException("expected the name of an image, found an empty one");
            }
            if (truth < 0 || truth >= logits.size()) {
                throw new IllegalArgumentException("%s: expected a class from 0 to %d as truth, found %d"
                        .formatted(QuotedText.bare(name), logits.size() - 1, truth));
            }
            for (int k = 0; k < logits.size(); k++) {
                if (!(Math.abs(logits.get(k)) <= MOST)) {
                    throw new IllegalArgumentException(
                            QuotedText.bare(name) + ": expected finite scores of magnitude at most "
                                    + MOST + ", found " + logits.get(k) + " for class " + k
                                    + "; check the image and the model's weights");
                }
            }
        }

        /** Returns the index of the predicted class. */
        public int predicted() {
            return logits.top();
        }

        /** Returns whether the predicted class is the true one. */
        public boolean right() {
            return predicted() == truth;
        }
    }

    /**
     * Test set of an evaluation. Evaluations are comparable if fingerprint and fold agree.
     *
     * @param protocol e.g. {@code thirds:3}
     * @param fold name of the fold, e.g. {@code third 2}
     */
    public record Setting(String protocol, String fold, Fingerprint fingerprint, long seed) {
        /** Identifies the test set of a fold. */
        public static Setting of(FoldSet plan, Fold fold) {
            return new Setting(plan.protocol().text(), fold.name(), plan.fingerprint(), plan.seed());
        }

        /** Identifies all images of a dataset. */
        public static Setting all(Dataset dataset) {
            return new Setting("all", "all images", Fingerprint.of(dataset, List.of()), 0);
        }

        @Override
        public String toString() {
            String ofProtocol =
                    protocol.startsWith(fold) ? "" : " '" + fold + "'"; // one split has the name of its protocol
            return "split " + protocol + ofProtocol + ", fingerprint " + fingerprint.brief();
        }
    }

    /** Metrics of an {@link Evaluation}. */
    public enum Metric {
        ACCURACY("accuracy", "accuracy", true),
        /** Top-5 accuracy; 1 with five classes or fewer. */
        TOP_5("top5", "top-5 accuracy", true),
        BALANCED_ACCURACY("balancedAccuracy", "balanced accuracy", true),
        MACRO_F1("macroF1", "macro F1", true),
        LOG_LOSS("logLoss", "log loss", false),
        BRIER("brier", "Brier score", false),
        CALIBRATION_ERROR("calibrationError", "calibration error", true);

        private final String key;
        private final String text;
        private final boolean percent;

        Metric(String key, String text, boolean percent) {
            this.key = key;
            this.text = text;
            this.percent = percent;
        }

        /** Computes the value; not in percent. */
        public double of(Evaluation evaluation) {
            return switch (this) {
                case ACCURACY -> evaluation.accuracy().value();
                case TOP_5 -> evaluation.top(5).value();
                case BALANCED_ACCURACY -> evaluation.confusion().macroRecall();
                case MACRO_F1 -> evaluation.confusion().macroF1();
                case LOG_LOSS -> evaluation.calibration().logLoss();
                case BRIER -> evaluation.calibration().brier();
                case CALIBRATION_ERROR -> evaluation.calibration().error();
            };
        }

        /** Name in files. */
        public String key() {
            return key;
        }

        /** Returns the name in tables. */
        public String text() {
            return text;
        }

        /** Formats a value: {@code 75.3} in percent, or {@code 0.812}. */
        public String show(double number) {
            return percent
                    ? String.format(Locale.ROOT, "%.1f", 100 * number)
                    : String.format(Locale.ROOT, "%.3f", number);
        }
    }
}
