package org.gramian.evaluate;

import java.util.Locale;

/**
 * Proportion of correct predictions.
 *
 * @param right number of correct predictions
 * @param count number of predictions, at least 1
 */
public record Proportion(int right, int count) {
    public Proportion {
        if (count < 1 || right < 0 || right > count) {
            throw new IllegalArgumentException(
                    "expected 0 to n of n >= 1 as a proportion, found " + right + " of " + count);
        }
    }

    /** Returns {@code right / count}. */
    public double value() {
        return (double) right / count;
    }

    /** Returns Wilson's 95 % interval. It covers the sampling of test images only, not that of training runs. */
    public Interval interval() {
        return Interval.wilson(right, count);
    }

    /** Returns e.g. {@code 75.3 (72.5–77.9)}, in percent. */
    public String text() {
        Interval interval = interval();
        return String.format(
                Locale.ROOT, "%.1f (%.1f–%.1f)", 100 * value(), 100 * interval.low(), 100 * interval.high());
    }
}
