package org.gramian.cli;

import java.time.Duration;
import java.util.Locale;
import org.gramian.train.loop.TrainEvent.EpochDone;
import org.gramian.train.loop.TrainEvent.StageStarted;
import org.gramian.train.loop.TrainEvent.Stepped;

/**
 * The course of a stage in words: beside a bar, where room is short, and as a line for every epoch.
 *
 * @param stage that runs
 * @param remaining how fast it goes
 */
record CourseText(StageStarted stage, RemainingTime remaining) {
    private static final double USUAL = 1000;

    /** What stands beside a bar; what matters most comes first, as the end may be cut. */
    String remark(Stepped stepped) {
        return String.format(
                        Locale.ROOT,
                        "epoch %d/%d left %s loss %s acc %.1f%%",
                        stepped.epoch() + 1,
                        stage.epochs(),
                        brief(remaining.left()),
                        loss(stepped.loss()),
                        100 * stepped.accuracy())
                + speed(" %.0f/s");
    }

    String line(EpochDone done) {
        boolean judged = done.judgement().error() != 0 || done.judgement().loss() != done.loss();
        String heldBack = judged
                ? String.format(
                        Locale.ROOT,
                        "; validation: loss %s, accuracy %.1f %%%s",
                        loss(done.judgement().loss()),
                        100 * (1 - done.judgement().error()),
                        done.best() ? ", the best so far" : "")
                : "";
        return String.format(
                        Locale.ROOT,
                        "stage %d, epoch %d/%d: loss %s, accuracy %.1f %%%s; rate %.2g",
                        done.stage(),
                        done.epoch() + 1,
                        stage.epochs(),
                        loss(done.loss()),
                        100 * done.accuracy(),
                        heldBack,
                        done.rate())
                + speed(", %.0f crops/s")
                + ", about " + PlanText.duration(remaining.left()) + " more";
    }

    private String speed(String form) {
        return remaining.cropsPerSecond().isPresent()
                ? String.format(Locale.ROOT, form, remaining.cropsPerSecond().getAsDouble())
                : "";
    }

    /** Short, however large: a diverging loss has dozens of digits. */
    static String loss(double loss) {
        return String.format(Locale.ROOT, Math.abs(loss) < USUAL ? "%.3f" : "%.4g", loss);
    }

    /** In the two largest units without blanks, as {@code 2h5m}. */
    static String brief(Duration time) {
        return PlanText.duration(time).replace(" min", "m").replace(" ", "");
    }
}
