package org.gramian.evaluate;

import java.util.Locale;

/**
 * So many of so many, with how sure one can be of it.
 *
 * @param right how many were right
 * @param count of how many, at least 1
 */
public record Proportion(int right, int count) {
    public Proportion {
        if (count < 1 || right < 0 || right > count) {
            throw new IllegalArgumentException(
                    "expected 0 to n of n >= 1 as a proportion, found " + right + " of " + count);
        }
    }

    /** {@code right / count}. */
    public double value() {
        return (double) right / count;
    }

    /** Wilson's interval of 95 %. It knows of these images only: not of another training run or another camera. */
    public Interval interval() {
        return Interval.wilson(right, count);
    }

    /** In percent, as {@code 75.3 (72.5 to 77.9)}. */
    public String text() {
        Interval interval = interval();
        return String.format(
                Locale.ROOT, "%.1f (%.1f–%.1f)", 100 * value(), 100 * interval.low(), 100 * interval.high());
    }
}
