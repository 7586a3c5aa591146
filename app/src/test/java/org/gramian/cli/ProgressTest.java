package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private final StringWriter log = new StringWriter();
    private final AtomicLong seconds = new AtomicLong();
    private final Progress progress = new Progress.Lines(
            "reading pictures", 400, new PrintWriter(log), () -> Instant.ofEpochSecond(seconds.get()));

    @Test
    void aTaskThatEndsSoonSaysNothingInALog() {
        seconds.set(9);
        progress.accept(399);
        assertThat(log.toString()).isEmpty();
    }

    @Test
    void aLongTaskSaysHowFarItIsAndHowLongItTakesOncePerTenSeconds() {
        seconds.set(10);
        progress.accept(100);
        seconds.set(19);
        progress.accept(150);
        seconds.set(20);
        progress.accept(300);
        assertThat(log.toString().lines())
                .containsExactly(
                        "reading pictures: 100 of 400, about 30 s left",
                        "reading pictures: 300 of 400, about 7 s left");
    }

    @Test
    void beforeTheFirstStepNothingIsGuessed() {
        seconds.set(60);
        progress.accept(0);
        assertThat(log.toString().strip()).isEqualTo("reading pictures: 0 of 400");
    }
}
