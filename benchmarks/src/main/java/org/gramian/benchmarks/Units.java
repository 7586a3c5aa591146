package org.gramian.benchmarks;

import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** Number formats with units. */
final class Units {
    private Units() {}

    static String time(double seconds) {
        if (seconds >= 1) {
            return String.format(Locale.ROOT, "%.3f s", seconds);
        }
        return seconds >= 1e-3
                ? String.format(Locale.ROOT, "%.2f ms", seconds * 1e3)
                : String.format(Locale.ROOT, "%.1f µs", seconds * 1e6);
    }

    static String rate(double perSecond) {
        return String.format(Locale.ROOT, perSecond < 100 ? "%.1f" : "%.0f", perSecond);
    }

    /** Formats operations per second in units of 10¹². */
    static String teraflops(double perSecond) {
        return String.format(Locale.ROOT, perSecond < 1e13 ? "%.3f" : "%.1f", perSecond / 1e12);
    }

    static String tera(OptionalDouble perSecond) {
        return perSecond.isPresent() ? teraflops(perSecond.getAsDouble()) : "–";
    }

    static String percent(OptionalDouble share) {
        return share.isPresent() ? String.format(Locale.ROOT, "%.1f %%", share.getAsDouble() * 100) : "–";
    }

    static String memory(OptionalLong bytes) {
        return bytes.isPresent() ? String.format(Locale.ROOT, "%d MiB", bytes.getAsLong() >> 20) : "–";
    }

    static String ratio(OptionalDouble ratio) {
        if (ratio.isEmpty()) {
            return "–";
        }
        return String.format(Locale.ROOT, ratio.getAsDouble() < 10 ? "%.2f×" : "%.0f×", ratio.getAsDouble());
    }
}
