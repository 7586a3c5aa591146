package org.gramian.cli;

import java.time.Duration;
import me.tongfei.progressbar.ProgressBarRenderer;
import me.tongfei.progressbar.ProgressState;

/**
 * Renders a progress bar as one line, as {@code fine-tuning  40% ████░░░░  epoch 3/60  loss 1.160}. On a narrow terminal the bar
 * itself gives way first. Without a remark it shows the number of steps and the remaining time.
 */
final class BarText implements ProgressBarRenderer {
    private static final int WIDEST = 24;
    private static final int NARROWEST = 4;
    /** Steps of less than this many milliseconds give no estimate. */
    private static final int MILLISECONDS = 2000;

    @Override
    public String render(ProgressState state, int width) {
        double part = state.isIndefinite() ? 0 : Math.clamp(state.getNormalizedProgress(), 0.0, 1.0);
        String before = state.getTaskName() + (state.isIndefinite() ? "" : " %3d%%".formatted((int) (100 * part)));
        String remark = String.valueOf(state.getExtraMessage()).strip();
        String after = remark.isEmpty() ? steps(state) : remark;
        int room = Math.min(WIDEST, width - before.length() - after.length() - 3);
        String bar = state.isIndefinite() || room < NARROWEST ? "" : " " + bar(part, room);
        String line = before + bar + "  " + after;
        return line.length() <= width ? line : line.substring(0, Math.max(0, width));
    }

    private static String bar(double part, int width) {
        int full = (int) Math.round(part * width);
        return "█".repeat(full) + "░".repeat(width - full);
    }

    private static String steps(ProgressState state) {
        if (state.isIndefinite()) {
            return Long.toString(state.getCurrent());
        }
        long done = state.getCurrent() - state.getStart();
        long rest = Math.max(0, state.getMax() - state.getCurrent());
        String count = state.getCurrent() + "/" + state.getMax();
        Duration passed = state.getElapsedAfterStart();
        return done <= 0 || rest == 0 || passed.toMillis() < MILLISECONDS
                ? count
                : count + "  eta " + EpochText.time(passed.multipliedBy(rest).dividedBy(done));
    }
}
