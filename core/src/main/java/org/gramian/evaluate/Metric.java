package org.gramian.evaluate;

import java.util.Locale;

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

    public String text() {
        return text;
    }

    /** Formats a value: {@code 75.3} in percent, or {@code 0.812}. */
    public String show(double number) {
        return percent ? String.format(Locale.ROOT, "%.1f", 100 * number) : String.format(Locale.ROOT, "%.3f", number);
    }
}
