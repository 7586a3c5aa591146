package org.gramian.cli.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private static final String TASK = "reading images";

    private final StringWriter log = new StringWriter();
    private final AtomicLong seconds = new AtomicLong();
    private final Progress progress =
            new Progress.Lines(TASK, 400, new PrintWriter(log), false, () -> Instant.ofEpochSecond(seconds.get()));

    @Test
    void longTaskLogsStepsAndRemainingTime() {
        for (int second = 1; second <= 20; second++) {
            seconds.set(second);
            progress.accept(10L * second);
        }
        assertThat(log.toString().lines())
                .satisfiesExactly(
                        first -> assertThat(first).startsWith(TASK).has(facts("100/400", "eta 0:30")),
                        second -> assertThat(second).startsWith(TASK).has(facts("200/400", "eta 0:20")));
    }

    /** The first batch takes 20 s, as where kernels are compiled in it, every other image a tenth of a second. */
    @Test
    void remainingTimeAppearsWhenItHoldsWithinAFactorOfOneAndAHalf() {
        Progress.Eta eta = new Progress.Eta();
        int shown = 0;
        for (int second = 1; second <= 100; second++) {
            long done = second < 20 ? 1 : 1 + 10L * (second - 20);
            String text = eta.at(Duration.ofSeconds(second), done, 801 - done);
            if (!text.isEmpty()) {
                String[] parts = text.strip().substring("eta ".length()).split(":", -1);
                int left = 60 * Integer.parseInt(parts[0]) + Integer.parseInt(parts[1]);
                assertThat((double) left / (100 - second)).as("at %d s", second).isBetween(1 / 1.5, 1.5);
                shown++;
            }
        }
        assertThat(shown).isGreaterThan(20);
    }

    @Test
    void logOfTwoHoursHasFewLines() {
        for (int second = 0; second <= 7200; second++) {
            seconds.set(second);
            progress.accept(second / 20);
        }
        assertThat(log.toString().lines()).hasSize(27);
    }

    private static String drawn(long all, long... steps) {
        return drawnAfter(0, all, steps);
    }

    private static String drawnAfter(long delay, long all, long... steps) {
        ByteArrayOutputStream terminal = new ByteArrayOutputStream();
        try (Progress bar =
                new Progress.Bar("features", all, new PrintStream(terminal, true, StandardCharsets.UTF_8), delay)) {
            for (long step : steps) {
                bar.accept(step);
            }
        }
        return terminal.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aBarShowsTaskAndStepsInOneLine() {
        assertThat(drawn(400, 100, 400))
                .contains("features", "100%", "400/400")
                .doesNotContain("\n")
                .as("it disappears at the end")
                .endsWith("\r\u001b[K");
    }

    @Test
    void aShortTaskDrawsNoBar() {
        assertThat(drawnAfter(60_000, 400, 100, 400)).isEmpty();
    }

    @Test
    void aJsonLineHasTaskAndCount() {
        Progress json =
                new Progress.Lines(TASK, 400, new PrintWriter(log), true, () -> Instant.ofEpochSecond(seconds.get()));
        seconds.set(10);
        json.accept(100);
        assertThat(log.toString().strip())
                .startsWith("{\"time\":")
                .endsWith("\"event\":\"progress\",\"task\":\"reading images\",\"done\":100,\"total\":400}");
    }

    @Test
    void aFrameErasesTheRestOfALongerOne() {
        assertThat(drawn(400, 100).split("\r", -1))
                .hasSizeGreaterThan(1)
                .allSatisfy(frame -> assertThat(frame).matches("|\u001b\\[K.*"));
    }
}
