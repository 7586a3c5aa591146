package org.gramian.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import java.util.function.LongConsumer;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * Shows how far a long task is: a bar with the time left on a terminal, a line now and then in a log.
 *
 * <p>It is told the number of steps done so far, from any thread, as often as one likes.
 */
sealed interface Progress extends LongConsumer, AutoCloseable {
    /** A bar on a terminal, lines elsewhere. */
    @SuppressWarnings("SystemConsoleNull") // it is null again without a terminal, as before Java 22
    static Progress of(String task, long all, PrintWriter err) {
        boolean terminal = System.console() != null && System.console().isTerminal();
        return terminal ? new Bar(task, all) : new Lines(task, all, err, InstantSource.system());
    }

    @Override
    void close();

    /** A bar that is drawn again and again in one line of standard error. */
    final class Bar implements Progress {
        private final ProgressBar bar;

        private Bar(String task, long all) {
            bar = new ProgressBarBuilder()
                    .setTaskName(task)
                    .setInitialMax(all)
                    .setStyle(ProgressBarStyle.UNICODE_BLOCK)
                    .setUpdateIntervalMillis(200)
                    .setConsumer(new ConsoleProgressBarConsumer(System.err))
                    .build();
        }

        @Override
        public void accept(long done) {
            bar.stepTo(done);
        }

        @Override
        public void close() {
            bar.close();
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
            String far = task + ": " + done + " of " + all;
            return done == 0
                    ? far
                    : far + String.format(Locale.ROOT, ", about %.0f s left", seconds / done * Math.max(0, all - done));
        }

        @Override
        public void close() {}
    }
}
