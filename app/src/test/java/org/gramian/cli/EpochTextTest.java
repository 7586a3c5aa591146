package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.time.Duration;
import java.time.Instant;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicLong;
import org.gramian.run.plan.Estimate;
import org.gramian.train.loop.TrainEvent.EpochDone;
import org.gramian.train.loop.TrainEvent.StageStarted;
import org.gramian.train.loop.TrainEvent.Stepped;
import org.gramian.train.recipe.Judgement;
import org.junit.jupiter.api.Test;

class CourseTextTest {
    private static final StageStarted STAGE = new StageStarted(1, 60, 1, 9);

    private final AtomicLong seconds = new AtomicLong();
    private final RemainingTime remaining = new RemainingTime(
            new Estimate(Duration.ZERO, Duration.ofMinutes(4), Duration.ZERO),
            1,
            () -> Instant.ofEpochSecond(seconds.get()));

    private EpochDone done(double loss) {
        return new EpochDone(1, 2, 0.01, loss, 0.25, new Judgement(0.5, 1.25), true, OptionalDouble.empty());
    }

    @Test
    void beforeAnyStepTheSpeedIsLeftOutRatherThanNought() {
        remaining.stageStarted(STAGE);
        assertThat(new CourseText(STAGE, remaining).line(done(1.5)))
                .has(facts("3/60", "1.500", "25.0 %", "4 min"))
                .doesNotContain("crops/s");
    }

    @Test
    void besideABarStandsWhatMattersInFewWords() {
        remaining.stageStarted(STAGE);
        Stepped stepped = new Stepped(1, 2, 1, 9, 1.16, 1 / 6.0);
        seconds.set(1);
        remaining.stepped(stepped);
        assertThat(new CourseText(STAGE, remaining).remark(stepped))
                .hasSizeLessThan(50)
                .has(facts("3/60", "57s", "1.160", "16.7%", "9/s"));
    }

    @Test
    void aDivergedLossIsShort() {
        assertThat(CourseText.loss(1.23456789e30)).isEqualTo("1.235e+30");
        assertThat(CourseText.loss(999.5)).isEqualTo("999.500");
        assertThat(CourseText.loss(Double.NaN)).isEqualTo("NaN");
    }
}
