package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.gramian.train.event.TrainEvent.StageStarted;
import org.gramian.train.event.TrainEvent.Stepped;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StageClockTest {
    private static final StageStarted STAGE = new StageStarted(1, 10, 4, 32);

    private final AtomicLong seconds = new AtomicLong();
    private final StageClock clock = new StageClock(() -> Instant.ofEpochSecond(seconds.get()));

    @BeforeEach
    void start() {
        clock.started(STAGE);
    }

    private void step(int epoch, int step, long time) {
        seconds.addAndGet(time);
        clock.stepped(new Stepped(1, epoch, step, 8 * step, 1, 0.5));
    }

    @Test
    void theFirstStepIsNotMeasured() {
        step(0, 1, 1000);
        assertThat(clock.imagesPerSecond()).isEmpty();
        assertThat(clock.eta()).isEmpty();
        step(0, 2, 2);
        assertThat(clock.imagesPerSecond()).hasValue(4);
    }

    @Test
    void theEstimateIsKnownAfterAnEpochAndIncludesValidation() {
        for (int step = 1; step <= 4; step++) {
            step(0, step, 1);
        }
        assertThat(clock.eta()).isEmpty();
        seconds.addAndGet(3);
        clock.epochDone();
        assertThat(clock.imagesPerSecond()).hasValue(8);
        assertThat(clock.eta()).contains(Duration.ofSeconds(2 * 36));
    }

    @Test
    void inALongEpochTheEstimateIsKnownEarlier() {
        clock.started(new StageStarted(1, 2, 100, 800));
        for (int step = 1; step <= 10; step++) {
            step(0, step, 1);
            assertThat(clock.eta()).isEmpty();
        }
        step(0, 11, 1);
        assertThat(clock.eta()).contains(Duration.ofSeconds(189));
    }

    @Test
    void afterAResumeOnlyStepsOfThisProcessCount() {
        step(5, 1, 2);
        step(5, 2, 2);
        clock.epochDone();
        assertThat(clock.eta()).contains(Duration.ofSeconds(2 * (40 - 22)));
    }
}
