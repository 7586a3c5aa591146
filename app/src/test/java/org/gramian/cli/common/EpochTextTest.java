package org.gramian.cli.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicLong;
import org.gramian.run.StageClock;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.StageStarted;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;

class EpochTextTest {
    private static final StageStarted STAGE = new StageStarted(1, 60, 2, 18);

    private final AtomicLong seconds = new AtomicLong();
    private final StageClock clock = new StageClock(() -> Instant.ofEpochSecond(seconds.get()));
    private final EpochText text = new EpochText(STAGE, clock);

    private static EpochDone done(double loss, ValidationScore judgement) {
        return new EpochDone(
                1, 2, 0.00097, loss, 0.25, judgement.error(), judgement.loss(), true, OptionalDouble.empty());
    }

    private Stepped step(int epoch, int step) {
        seconds.incrementAndGet();
        Stepped stepped = new Stepped(1, epoch, step, 9 * step, 1.16, 1 / 6.0);
        clock.stepped(stepped);
        return stepped;
    }

    @Test
    void anEpochIsOneCompactLine() {
        clock.started(STAGE);
        step(2, 1);
        step(2, 2);
        clock.epochDone();
        assertThat(text.line(done(1.71, new ValidationScore(0.467, 1.25))))
                .isEqualTo("epoch 3/60  loss 1.710  acc 25.0%  val_acc 53.3%  lr 0.00097  9 img/s  eta 1:54");
    }

    @Test
    void withoutAValidationSetThereIsNoValidationAccuracy() {
        clock.started(STAGE);
        assertThat(text.line(done(1.5, new ValidationScore(0, 1.5)))).doesNotContain("val");
    }

    @Test
    void barShowsLastValidationAccuracy() {
        clock.started(STAGE);
        step(3, 1);
        assertThat(text.beside(step(3, 2), Optional.of(done(1, new ValidationScore(0.5, 1)))))
                .isEqualTo("epoch 4/60  loss 1.160  acc 16.7%  val_acc 50.0%  9 img/s");
    }
}
