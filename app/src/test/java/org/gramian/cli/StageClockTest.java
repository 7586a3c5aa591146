package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.gramian.run.plan.Estimate;
import org.gramian.train.loop.TrainEvent.StageStarted;
import org.gramian.train.loop.TrainEvent.Stepped;
import org.junit.jupiter.api.Test;

class RemainingTimeTest {
    private static final StageStarted STAGE = new StageStarted(1, 10, 4, 32);

    private final AtomicLong seconds = new AtomicLong();
    private final RemainingTime remaining = new RemainingTime(
            new Estimate(Duration.ZERO, Duration.ofSeconds(200), Duration.ofSeconds(60)),
            2,
            () -> Instant.ofEpochSecond(seconds.get()));

    private void step(int epoch, int step, long time) {
        seconds.addAndGet(time);
        remaining.stepped(new Stepped(1, epoch, step, 8 * step, 1, 0.5));
    }

    @Test
    void beforeTheFirstStepTheEstimateCountsAndNoSpeedIsKnown() {
        remaining.foldStarted(1, 2);
        remaining.stageStarted(STAGE);
        assertThat(remaining.left()).hasSeconds(100 + 30 + 130);
        assertThat(remaining.cropsPerSecond()).isEmpty();
    }

    @Test
    void theFirstStepOfAStageCountsAlsoAfterABreak() {
        remaining.foldStarted(2, 2);
        remaining.stageStarted(STAGE);
        step(5, 1, 2);
        assertThat(remaining.cropsPerSecond()).hasValue(4);
        assertThat(remaining.left()).hasSeconds(2 * (40 - 21) + 30);
    }

    @Test
    void anExtendedStageTakesLonger() {
        remaining.foldStarted(2, 2);
        remaining.stageStarted(STAGE);
        step(9, 4, 2);
        assertThat(remaining.left()).hasSeconds(30);
        remaining.stageExtended(new StageStarted(1, 13, 4, 32));
        assertThat(remaining.left()).hasSeconds(3 * 4 * 2 + 30);
        step(10, 1, 2);
        assertThat(remaining.left()).hasSeconds(11 * 2 + 30);
    }

    @Test
    void judgingTakesTimeButIsNoTraining() {
        remaining.foldStarted(2, 2);
        remaining.stageStarted(STAGE);
        for (int step = 1; step <= 4; step++) {
            step(0, step, 1);
        }
        seconds.addAndGet(4);
        remaining.epochDone();
        assertThat(remaining.cropsPerSecond()).hasValue(8);
        assertThat(remaining.left()).hasSeconds(9 * 8 + 30);
    }
}
