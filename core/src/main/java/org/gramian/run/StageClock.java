package org.gramian.run;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.OptionalDouble;
import org.gramian.train.event.TrainEvent.StageStarted;
import org.gramian.train.event.TrainEvent.Stepped;

/**
 * Measures the speed of a training stage and how long it still takes.
 *
 * <p>The first step does not count: kernels are compiled in it. Before the end of the first epoch there is an estimate only after
 * {@value #STEPS} steps and {@value #SECONDS} seconds, since early steps are much slower than later ones on a GPU.
 */
public final class StageClock {
    private static final int STEPS = 10;
    private static final int SECONDS = 5;

    private final InstantSource clock;
    private StageStarted stage = new StageStarted(1, 0, 1, 0);
    /** Steps taken so far, including those before a resume. */
    private long done;
    /** Steps taken when the measurement began; -1 before the first step of this process. */
    private long begun = -1;

    private long mark;
    private double training;
    private double validating;
    private boolean epochMeasured;
    private double secondsPerStep;
    private OptionalDouble speed = OptionalDouble.empty();

    public StageClock(InstantSource clock) {
        this.clock = clock;
    }

    public void started(StageStarted started) {
        stage = started;
        done = 0;
        begun = -1;
        training = 0;
        validating = 0;
        epochMeasured = false;
        secondsPerStep = 0;
        speed = OptionalDouble.empty();
        mark = clock.millis();
    }

    public void stepped(Stepped step) {
        done = (long) step.epoch() * stage.steps() + step.step();
        double passed = sinceMark();
        if (begun < 0) {
            begun = done;
            return;
        }
        training += passed;
        measure();
    }

    /** Ends an epoch: the time since its last step went into validation. */
    public void epochDone() {
        validating += sinceMark();
        measure();
        epochMeasured |= secondsPerStep > 0;
    }

    private double sinceMark() {
        long now = clock.millis();
        double passed = (now - mark) / 1e3;
        mark = now;
        return passed;
    }

    private void measure() {
        long steps = done - begun;
        if (begun >= 0 && steps > 0 && training > 0) {
            secondsPerStep = (training + validating) / steps;
            speed = OptionalDouble.of((double) stage.crops() / stage.steps() * steps / training);
        }
    }

    /** Training images per second, without validation; empty before the second step. */
    public OptionalDouble imagesPerSecond() {
        return speed;
    }

    /** Returns the remaining time if the stage runs all its epochs; empty before it is known and at the end of the stage. */
    public Optional<Duration> eta() {
        long left = (long) stage.epochs() * stage.steps() - done;
        boolean known = epochMeasured || (done - begun >= STEPS && training >= SECONDS);
        return known && left > 0
                ? Optional.of(Duration.ofMillis(Math.round(1e3 * secondsPerStep * left)))
                : Optional.empty();
    }
}
