package org.gramian.cli;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import java.util.function.LongConsumer;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import org.jspecify.annotations.Nullable;

/**
 * Shows how far a long task is: a bar with the time left on a terminal, a line now and then in a log.
 *
 * <p>It is told the number of steps done so far, from any thread, as often as one likes; before the first time it shows
 * nothing, so that a task without steps leaves no bar behind that never moved. Where the number of all steps is not known,
 * 0 or less, it shows a count. What standard error is decides between bar and lines, see {@link Terminal}: standard output
 * may be a file.
 */
sealed interface Progress extends LongConsumer, AutoCloseable {
    /** A bar on a terminal, lines elsewhere. */
    static Progress of(String task, long all, PrintWriter err) {
        return Terminal.isStandardError()
                ? new Bar(task, all, System.err)
                : new Lines(task, all, err, InstantSource.system());
    }

    /** Says something beside the number of steps, until something else is said. */
    void remark(String text);

    @Override
    void close();

    /** A bar that is drawn again and again in one line of a terminal. */
    final class Bar implements Progress {
        private final ProgressBarBuilder builder;
        private @Nullable ProgressBar bar;

        Bar(String task, long all, PrintStream terminal) {
            builder = new ProgressBarBuilder()
                    .setTaskName(task)
                    .setInitialMax(all > 0 ? all : -1) // the library's word for not known
                    .setRenderer(new BarText())
                    .setUpdateIntervalMillis(200)
                    .setConsumer(new ConsoleProgressBarConsumer(terminal));
        }

        @Override
        public synchronized void accept(long done) {
            ProgressBar drawn = bar;
            if (drawn == null) {
                drawn = builder.build();
                bar = drawn;
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
            }
        }
    }

    /** A line every ten seconds. */
    final class Lines implements Progress {
        private static final Duration BETWEEN = Duration.ofSeconds(10);

        private final String task;
        private final long all;
        private final PrintWriter log;
        private final InstantSource clock;
        private final Instant start;
        private Instant spoken;
        private String remark = "";

        Lines(String task, long all, PrintWriter log, InstantSource clock) {
            this.task = task;
            this.all = all;
            this.log = log;
            this.clock = clock;
            this.start = clock.instant();
            this.spoken = start;
        }

        @Override
        public synchronized void accept(long done) {
            Instant now = clock.instant();
            if (Duration.between(spoken, now).compareTo(BETWEEN) >= 0) {
                spoken = now;
                log.println(line(done, Duration.between(start, now).toMillis() / 1e3));
                log.flush();
            }
        }

        private String line(long done, double seconds) {
            String far = task + ": " + done + (all > 0 ? " of " + all : "");
            if (!remark.isEmpty()) {
                return far + ", " + remark;
            }
            return done == 0 || all <= 0
                    ? far
                    : far + String.format(Locale.ROOT, ", about %.0f s left", seconds / done * Math.max(0, all - done));
        }

        @Override
        public synchronized void remark(String text) {
            remark = text;
        }

        @Override
        public void close() {}
    }
}
