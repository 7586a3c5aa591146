package org.gramian.report.chart;

import java.util.List;

/**
 * A scale with a title and labels.
 *
 * @param title what is measured, with its unit
 * @param scale where values lie
 * @param ticks its labels
 */
public record Axis(String title, Scale scale, List<Scale.Tick> ticks) {
    public Axis {
        ticks = List.copyOf(ticks);
    }

    /** With round numbers. */
    public static Axis of(String title, Scale scale) {
        return new Axis(title, scale, scale.ticks());
    }

    /** With round whole numbers. */
    public static Axis counting(String title, Scale scale) {
        return new Axis(title, scale, scale.wholeTicks());
    }
}
