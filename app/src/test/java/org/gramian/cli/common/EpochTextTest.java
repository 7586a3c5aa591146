package org.gramian.cli.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicLong;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.EpochsLimited;
import org.gramian.train.event.TrainEvent.StageStarted;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;

class EpochTextTest {
    private static final StageStarted STAGE = new StageStarted(1, 60, 2, 18);

    private final AtomicLong seconds = new AtomicLong();
    private final EpochText text = new EpochText(STAGE, () -> Instant.ofEpochSecond(seconds.get()));

    private static EpochDone done(double loss, ValidationScore judgement) {
        return new EpochDone(
                1, 2, 0.00097, loss, 0.25, judgement.error(), judgement.loss(), true, OptionalDouble.empty());
    }

    private Stepped step(int epoch, int step) {
        seconds.incrementAndGet();
        Stepped stepped = new Stepped(1, epoch, step, 9 * step, 1.16, 1 / 6.0);
        text.stepped(stepped);
        return stepped;
    }

    @Test
    void anEpochIsOneCompactLine() {
        for (int i = 0; i <= 10; i++) { // ends with step 1 of epoch 6
            step(i / 2, 1 + i % 2);
        }
        seconds.addAndGet(10); // validation
        text.epochDone();
        assertThat(text.line(done(1.71, new ValidationScore(0.467, 1.25))))
                .isEqualTo("epoch 3/60  loss 1.710  acc 25.0%  val_acc 53.3%  lr 0.00097  5 img/s  eta 3:38");
    }

    @Test
    void etaEndsWithTheLimit() {
        for (int i = 0; i <= 10; i++) { // ends with step 1 of epoch 6
            step(i / 2, 1 + i % 2);
        }
        text.limit(new EpochsLimited(1, 7));
        assertThat(text.line(done(1.71, new ValidationScore(0.467, 1.25))))
                .startsWith("epoch 3/7  ")
                .endsWith("  eta 0:03");
    }

    @Test
    void withoutAValidationSetThereIsNoValidationAccuracy() {
        assertThat(text.line(done(1.5, new ValidationScore(0, 1.5)))).doesNotContain("val");
    }

    @Test
    void afterAResumeOnlyStepsOfThisProcessCount() {
        seconds.addAndGet(1000);
        step(5, 1);
        assertThat(text.imagesPerSecond()).isEmpty();
        step(5, 2);
        assertThat(text.imagesPerSecond()).hasValue(9);
        assertThat(text.eta()).as("too few steps").isEmpty();
    }

    @Test
    void barShowsLastValidationAccuracy() {
        step(3, 1);
        assertThat(text.beside(step(3, 2), Optional.of(done(1, new ValidationScore(0.5, 1)))))
                .isEqualTo("epoch 4/60  loss 1.160  acc 16.7%  val_acc 50.0%  9 img/s");
    }
}
