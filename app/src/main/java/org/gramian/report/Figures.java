package org.gramian.report;

import java.util.Locale;
import org.gramian.evaluate.Proportion;

/** Number formats of the pages. */
public final class Figures {
    private Figures() {}

    /** A row of a table. */
    public record LabelledValue(String label, String value) {}

    /** Formats a fraction in percent, as {@code 79.6}. */
    public static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f", 100 * share);
    }

    /** Formats a probability as {@code 93 %}; never {@code 100 %} below 1 or {@code 0 %} above 0. */
    public static String probability(double value) {
        if (value > 0.995 && value < 1) {
            return "over 99 %";
        }
        return value > 0 && value < 0.005 ? "under 1 %" : Math.round(100 * value) + " %";
    }

    /** Formats a count, as {@code 12,950,384}. */
    public static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    /** Formats a count with its noun, as {@code 1 image} or {@code 1,200 images}. */
    public static String count(long value, String thing) {
        return count(value) + " " + thing + (value == 1 ? "" : "s");
    }

    /** Formats a size, as {@code 4.7 MB}. */
    public static String bytes(long value) {
        return value < 1_000_000
                ? String.format(Locale.ROOT, "%.1f kB", value / 1e3)
                : String.format(Locale.ROOT, "%.1f MB", value / 1e6);
    }

    /** Formats a proportion as {@code 79.6 % (95 % CI 74.0–84.2)}. */
    public static String withInterval(Proportion share) {
        return percent(share.value()) + " % (95 % CI "
                + percent(share.interval().low()) + "–"
                + percent(share.interval().high()) + ")";
    }

    /** Formats four significant digits, as {@code 0.03125} or {@code 1.2e-07}. */
    public static String number(double value) {
        double size = Math.abs(value);
        return String.format(Locale.ROOT, size != 0 && (size < 1e-3 || size >= 1e5) ? "%.2e" : "%.4g", value);
    }
}
