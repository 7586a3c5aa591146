package org.gramian.cli;

import java.time.Duration;
import java.time.InstantSource;
import java.util.OptionalDouble;
import org.gramian.run.plan.Estimate;
import org.gramian.train.loop.TrainEvent.StageStarted;
import org.gramian.train.loop.TrainEvent.Stepped;

/** Guesses how long a run will still take, if no schedule ends it earlier: from an estimate first, then from its steps. */
final class RemainingTime {
    private final InstantSource clock;
    /** Seconds that a stage of a fold takes, by number of the stage. */
    private final double[] seconds = new double[3];

    /** Seconds of what comes after this run. */
    private double behind;

    private int foldsLeft;
    private StageStarted stage = new StageStarted(1, 0, 1, 0);
    /** Steps of the stage that were taken, and those of them that were taken before a break. */
    private long done;

    private long before = -1;
    private long mark;
    private double stepping;
    private double judging;
    /** Whether the first epoch of this stage in this process is over. */
    private boolean warm;

    private OptionalDouble speed = OptionalDouble.empty();

    /** @param folds of the run */
    RemainingTime(Estimate estimate, int folds, InstantSource clock) {
        this.clock = clock;
        seconds[1] = estimate.stage1().toMillis() / 1e3 / folds;
        seconds[2] = estimate.stage2().toMillis() / 1e3 / folds;
    }

    /** Something else comes after this run, and counts as left. */
    void before(Duration others) {
        behind = others.toMillis() / 1e3;
    }

    void foldStarted(int number, int of) {
        foldsLeft = of - number;
    }

    void stageStarted(StageStarted started) {
        stage = started;
        done = 0;
        before = -1;
        stepping = 0;
        judging = 0;
        warm = false;
        speed = OptionalDouble.empty();
        mark = clock.millis();
    }

    /** The stage takes more epochs, each as long as those before. */
    void stageExtended(StageStarted extended) {
        if (stage.epochs() > 0) {
            seconds[stage.stage()] *= (double) extended.epochs() / stage.epochs();
        }
        stage = extended;
    }

    void stepped(Stepped step) {
        done = (long) step.epoch() * stage.steps() + step.step();
        if (before < 0) {
            before = done - 1;
        }
        stepping += sinceMark();
        guess();
    }

    /**
     * What lies between the last step of an epoch and this was no training. The first epoch counts no longer after it: kernels
     * are compiled and tried in it.
     */
    void epochDone() {
        judging += sinceMark();
        guess();
        speed = cropsPerSecond();
        if (!warm) {
            warm = true;
            before = done;
            stepping = 0;
            judging = 0;
        }
    }

    private double sinceMark() {
        long now = clock.millis();
        double passed = (now - mark) / 1e3;
        mark = now;
        return passed;
    }

    private void guess() {
        if (before >= 0 && done > before) {
            seconds[stage.stage()] = (stepping + judging) / (done - before) * stage.epochs() * stage.steps();
        }
    }

    /** Over the steps of the stage after its first epoch, or of that as long as it lasts; nothing before the first step. */
    OptionalDouble cropsPerSecond() {
        return before < 0 || stepping == 0 || done == before
                ? speed
                : OptionalDouble.of((double) stage.crops() / stage.steps() * (done - before) / stepping);
    }

    Duration left() {
        double steps = (double) stage.epochs() * stage.steps();
        double present = steps == 0 ? 0 : seconds[stage.stage()] * (1 - done / steps);
        double second = stage.stage() == 1 ? seconds[2] : 0;
        return Duration.ofMillis(Math.round(1e3 * (present + second + foldsLeft * (seconds[1] + seconds[2]) + behind)));
    }
}
