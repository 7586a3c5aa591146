package org.gramian.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Linear or logarithmic mapping of an interval from {@code low} to {@code high} to 0 to 1, with ticks at round numbers. */
public record Scale(double low, double high, boolean logarithmic) {
    private static final int TICKS = 5;

    /** Most ticks of a logarithmic scale; with more powers of ten some are skipped. */
    private static final int POWERS = 6;

    public Scale {
        if (!(low < high) || !Double.isFinite(high - low) || (logarithmic && low <= 0)) {
            throw new IllegalArgumentException("expected ends of a scale in ascending order"
                    + (logarithmic ? " above 0" : "") + ", found " + low + " and " + high);
        }
    }

    /** Returns a linear scale between round numbers that includes both values. */
    public static Scale linear(double low, double high) {
        double room = high > low ? high - low : Math.max(1e-9, Math.abs(high) * 0.1);
        double step = step(room);
        double begin = Math.floor(low / step + 1e-9) * step;
        double end = Math.ceil(Math.max(high, low) / step - 1e-9) * step;
        return new Scale(begin, end > begin ? end : begin + step, false);
    }

    public static Scale exactly(double low, double high) {
        return new Scale(low, high > low ? high : low + 1, false);
    }

    /** Returns a logarithmic scale between powers of ten that includes both positive values. */
    public static Scale logarithmic(double low, double high) {
        double begin = Math.pow(10, Math.floor(Math.log10(low) + 1e-9));
        double end = Math.pow(10, Math.ceil(Math.log10(high) - 1e-9));
        return new Scale(begin, end > begin ? end : begin * 10, true);
    }

    /** Returns the tick distance, 1, 2 or 5 times a power of ten, for about {@value #TICKS} ticks. */
    private static double step(double room) {
        double raw = room / TICKS;
        double power = Math.pow(10, Math.floor(Math.log10(raw)));
        double first = raw / power;
        return (first < 1.5 ? 1 : first < 3.5 ? 2 : first < 7.5 ? 5 : 10) * power;
    }

    /** Returns the position of a value, clamped to 0 to 1. */
    public double at(double value) {
        double place = logarithmic
                ? (Math.log10(Math.max(low, value)) - Math.log10(low)) / (Math.log10(high) - Math.log10(low))
                : (value - low) / (high - low);
        return Math.clamp(place, 0, 1);
    }

    /** Position and label. */
    public record Tick(double at, String text) {}

    public List<Tick> ticks() {
        return logarithmic ? powers() : steps(step(high - low));
    }

    /** Returns ticks at integers. */
    public List<Tick> wholeTicks() {
        return steps(Math.max(1, Math.rint(step(high - low))));
    }

    private List<Tick> steps(double step) {
        List<Tick> ticks = new ArrayList<>();
        int decimals = (int) Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
        for (double value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) {
            double shown = Math.abs(value) < step * 1e-9 ? 0 : value;
            ticks.add(new Tick(at(shown), String.format(Locale.ROOT, "%." + decimals + "f", shown)));
        }
        return ticks;
    }

    private List<Tick> powers() {
        List<Tick> ticks = new ArrayList<>();
        int first = (int) Math.round(Math.log10(low));
        int last = (int) Math.round(Math.log10(high));
        int every = Math.max(1, Math.ceilDiv(last - first, POWERS));
        for (int power = first; power <= last; power += every) {
            String text = power >= -2 && power <= 3
                    ? String.format(Locale.ROOT, "%." + Math.max(0, -power) + "f", Math.pow(10, power))
                    : "1e" + power;
            ticks.add(new Tick(at(Math.pow(10, power)), text));
        }
        return ticks;
    }
}
