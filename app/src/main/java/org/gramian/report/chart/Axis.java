package org.gramian.report.chart;

import java.util.List;

/**
 * Axis of a chart.
 *
 * @param title quantity with its unit
 * @param scale mapping of values to positions
 * @param ticks labels
 */
public record Axis(String title, Scale scale, List<Scale.Tick> ticks) {
    public Axis {
        ticks = List.copyOf(ticks);
    }

    /** Returns an axis with ticks at round numbers. */
    public static Axis of(String title, Scale scale) {
        return new Axis(title, scale, scale.ticks());
    }

    /** Returns an axis with ticks at integers. */
    public static Axis counting(String title, Scale scale) {
        return new Axis(title, scale, scale.wholeTicks());
    }
}
