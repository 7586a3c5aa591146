package org.gramian.evaluate;

import java.util.Locale;

/** The numbers by which a model is judged, each of one {@link Evaluation}. */
public enum Metric {
    /** Which part of the images got their class first. */
    ACCURACY("accuracy", "accuracy", true),

    /** Which part got it among the first five; with five classes or fewer this is all. */
    TOP_5("top5", "top-5 accuracy", true),

    /** {@link ConfusionMatrix#macroRecall}. */
    BALANCED_ACCURACY("balancedAccuracy", "balanced accuracy", true),

    /** {@link ConfusionMatrix#macroF1}. */
    MACRO_F1("macroF1", "macro F1", true),

    /** {@link Calibration#logLoss}. */
    LOG_LOSS("logLoss", "log loss", false),

    /** {@link Calibration#brier}. */
    BRIER("brier", "Brier score", false),

    /** {@link Calibration#error}. */
    CALIBRATION_ERROR("calibrationError", "calibration error", true);

    private final String key;
    private final String text;
    private final boolean percent;

    Metric(String key, String text, boolean percent) {
        this.key = key;
        this.text = text;
        this.percent = percent;
    }

    /** Its value, from 0 on; never in percent. */
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

    /** Its name in files. */
    public String key() {
        return key;
    }

    /** Its name for people. */
    public String text() {
        return text;
    }

    /** A value for people: {@code 75.3} for a part in percent, {@code 0.812} for others. */
    public String show(double number) {
        return percent ? String.format(Locale.ROOT, "%.1f", 100 * number) : String.format(Locale.ROOT, "%.3f", number);
    }
}
