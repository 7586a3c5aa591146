package org.gramian.cli.common;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarConsumer;
import me.tongfei.progressbar.ProgressBarRenderer;
import me.tongfei.progressbar.ProgressState;
import org.jspecify.annotations.Nullable;

/**
 * Progress of a long task: a bar on a terminal, erased at the end, or few lines in a log, see {@link Lines}.
 *
 * <p>{@code accept} takes the number of steps done so far, from any thread. Nothing is shown before the first step, or
 * for a task of less than {@value Bar#DELAY} milliseconds. If the total is unknown (0 or less), only a count is shown.
 */
public sealed interface Progress extends LongConsumer, AutoCloseable {
    /** Shows a text, e.g. epoch and loss, in place of the number of steps; JSON lines omit it. */
    void remark(String text);

    @Override
    void close();

    /** Shows nothing. */
    record None() implements Progress {
        @Override
        public void accept(long done) {}

        @Override
        public void remark(String text) {}

        @Override
        public void close() {}
    }

    /** A bar that is redrawn in one line of a terminal. */
    final class Bar implements Progress {
        /** Moves to the start of the line and erases it. */
        private static final String ERASE = "\r\u001b[K";

        /** A task that takes less than this many milliseconds shows no bar: it would only flicker. */
        static final long DELAY = 2000;

        /** Number of bars that are started and not closed. */
        private static final AtomicInteger OPEN = new AtomicInteger();

        private final ProgressBarBuilder builder;
        private final Line line;
        private @Nullable ProgressBar bar;

        Bar(String task, long all, PrintStream terminal, long delay) {
            this.line = new Line(terminal);
            BarText text = new BarText();
            builder = new ProgressBarBuilder()
                    .setTaskName(task)
                    .setInitialMax(all > 0 ? all : -1) // -1: indefinite
                    .setRenderer((state, width) ->
                            state.getElapsedAfterStart().toMillis() < delay ? "" : text.render(state, width))
                    .setUpdateIntervalMillis(200)
                    .continuousUpdate()
                    .clearDisplayOnFinish()
                    .setConsumer(line);
        }

        /** Returns the prefix of a message: erases the bar if one is open, so that the message starts its own line. */
        public static String eraser() {
            return OPEN.get() > 0 ? ERASE : "";
        }

        @Override
        public synchronized void accept(long done) {
            ProgressBar drawn = bar;
            if (drawn == null) {
                drawn = builder.startsFrom(done, Duration.ZERO).build();
                bar = drawn;
                OPEN.incrementAndGet();
            }
            drawn.stepTo(done);
        }

        @Override
        public synchronized void remark(String text) {
            if (bar != null) {
                bar.setExtraMessage(text);
            }
        }

        @Override
        public synchronized void close() {
            if (bar != null) {
                bar.close();
                line.clear();
                bar = null;
                OPEN.decrementAndGet();
            }
        }

        /**
         * Terminal line of the bar. Erases the line before each frame, since a shorter frame would leave characters of
         * a longer one. Drops frames that the drawing thread finishes after {@link #clear}.
         */
        private static final class Line implements ProgressBarConsumer {
            private final PrintStream terminal;
            private int columns;
            private boolean drawn;
            private boolean cleared;

            Line(PrintStream terminal) {
                this.terminal = terminal;
            }

            /** One column stays free: some terminals wrap a line that fills the last one. */
            @Override
            public int getMaxRenderedLength() {
                columns = columns == 0 ? Console.columns() : columns;
                return columns - 1;
            }

            @Override
            public synchronized void accept(String text) {
                if (!text.isEmpty() && !cleared) {
                    drawn = true;
                    terminal.print(ERASE + text);
                    terminal.flush();
                }
            }

            @Override
            public synchronized void clear() {
                cleared = true;
                if (drawn) {
                    terminal.print(ERASE);
                    terminal.flush();
                }
            }

            @Override
            public void close() {}
        }
    }

    /** A log line, as text or JSON, if ten seconds and a fifth of the elapsed time have passed since the last: 27 lines in two hours. */
    final class Lines implements Progress {
        private final String task;
        private final long all;
        private final PrintWriter log;
        private final boolean json;
        private final InstantSource clock;
        private final Instant start;
        private final Eta eta = new Eta();
        private Instant printed;
        private String remark = "";

        Lines(String task, long all, PrintWriter log, boolean json, InstantSource clock) {
            this.task = task;
            this.all = all;
            this.log = log;
            this.json = json;
            this.clock = clock;
            this.start = clock.instant();
            this.printed = start;
        }

        @Override
        public synchronized void accept(long done) {
            Instant now = clock.instant();
            String remaining = eta.at(Duration.between(start, now), done, all - done);
            if (isDue(start, printed, now)) {
                printed = now;
                log.println(json ? json(done) : text(done, remaining));
                log.flush();
            }
        }

        public static boolean isDue(Instant start, Instant printed, Instant now) {
            long wait = Math.max(10, Duration.between(start, now).toSeconds() / 5);
            return Duration.between(printed, now).toSeconds() >= wait;
        }

        private String json(long done) {
            Map<String, Object> values = new LinkedHashMap<>();
            values.put("task", task);
            values.put("done", done);
            if (all > 0) {
                values.put("total", all);
            }
            return Console.json("progress", values);
        }

        private String text(long done, String remaining) {
            String steps = done + (all > 0 ? "/" + all : "") + remaining;
            return task + "  " + (remark.isEmpty() ? steps : remark);
        }

        @Override
        public synchronized void remark(String text) {
            remark = text;
        }

        @Override
        public void close() {}
    }

    /**
     * Renders a progress bar as one line, e.g. {@code fine-tuning  40% ████░░░░  epoch 3/60  loss 1.160}. In a
     * narrow terminal the bar is shortened first. Without a remark it shows the number of steps and the remaining time.
     */
    static final class BarText implements ProgressBarRenderer {
        private static final int WIDEST = 24;
        private static final int NARROWEST = 4;
        private final Eta eta = new Eta();

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

        private String steps(ProgressState state) {
            if (state.isIndefinite()) {
                return Long.toString(state.getCurrent());
            }
            return state.getCurrent() + "/" + state.getMax()
                    + eta.at(
                            state.getElapsedAfterStart(),
                            state.getCurrent() - state.getStart(),
                            state.getMax() - state.getCurrent());
        }
    }

    /**
     * Remaining time of a task by its latest speed. There is none while the speeds in the whole, the last half and the last part of the time
     * differ by more than a factor of {@value #FACTOR}, as in the first seconds, when code and libraries load.
     */
    final class Eta {
        private static final double FACTOR = 1.5;
        private static final Duration LEAST = Duration.ofSeconds(2);

        /** Time and steps at the last doubling of the time, and at the one before. */
        private Duration earlier = Duration.ZERO;

        private long earlierDone;
        private Duration later = Duration.ZERO;
        private long laterDone;

        /** Returns {@code "  eta 0:27"}; empty if there is no stable speed, or nothing left. */
        String at(Duration passed, long done, long left) {
            if (passed.compareTo(LEAST) >= 0 && passed.compareTo(later.multipliedBy(2)) >= 0) {
                earlier = later;
                earlierDone = laterDone;
                later = passed;
                laterDone = done;
            }
            double mean = (double) done / Math.max(1, passed.toMillis());
            double recent = (double) (done - earlierDone)
                    / Math.max(1, passed.minus(earlier).toMillis());
            double last = passed.equals(later)
                    ? recent
                    : (double) (done - laterDone) / passed.minus(later).toMillis();
            double highest = Math.max(Math.max(recent, last), mean);
            boolean stable = highest < FACTOR * Math.min(Math.min(recent, last), mean);
            return earlier.isZero() || left <= 0 || !stable
                    ? ""
                    : "  eta " + EpochText.time(Duration.ofMillis(Math.round(left / recent)));
        }
    }
}
