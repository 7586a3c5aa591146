package org.gramian.cli.common;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import org.gramian.train.event.TrainEvent;

/**
 * One line about an epoch, as {@code epoch 3/25  loss 1.710  acc 44.6%  val_acc 53.3%  lr 0.97  416 img/s  eta 0:27}, with the speed of
 * the stage, validation included.
 *
 * <p>The first step does not count: kernels are compiled in it. There is an estimate only after {@value #STEPS} steps and
 * {@value #SECONDS} seconds, since early steps are much slower than later ones on a GPU.
 */
public final class EpochText {
    private static final String GAP = "  ";
    private static final double LARGE = 1000;
    private static final int STEPS = 10;
    private static final int SECONDS = 5;

    private final TrainEvent.StageStarted stage;
    private final InstantSource clock;
    /** Steps taken so far, including those before a resume. */
    private long done;
    /** Steps taken when the measurement began, and its time; -1 before the first step of this process. */
    private long begun = -1;

    private long beginning;
    private double seconds;
    private int epochs;

    public EpochText(TrainEvent.StageStarted stage, InstantSource clock) {
        this.stage = stage;
        this.epochs = stage.epochs();
        this.clock = clock;
    }

    public void limit(TrainEvent.EpochsLimited limited) {
        epochs = limited.epochs();
    }

    /** Measures the speed after a step. */
    public void stepped(TrainEvent.Stepped step) {
        done = (long) step.epoch() * stage.steps() + step.step();
        if (begun < 0) {
            begun = done;
            beginning = clock.millis();
        }
        epochDone();
    }

    /** Measures the speed after validation. */
    public void epochDone() {
        seconds = (clock.millis() - beginning) / 1e3;
    }

    /** Returns the steps taken so far. */
    public long done() {
        return done;
    }

    /** Returns the steps of all epochs. */
    public long steps() {
        return (long) epochs * stage.steps();
    }

    /** Returns the training images per second; empty before the second step. */
    public OptionalDouble imagesPerSecond() {
        return begun >= 0 && done > begun && seconds > 0
                ? OptionalDouble.of((double) stage.crops() / stage.steps() * (done - begun) / seconds)
                : OptionalDouble.empty();
    }

    /** Returns the remaining time if the stage runs all its epochs; empty before it is known and at the end of the stage. */
    public Optional<Duration> eta() {
        long left = steps() - done;
        return done - begun >= STEPS && seconds >= SECONDS && left > 0
                ? Optional.of(Duration.ofMillis(Math.round(1e3 * seconds / (done - begun) * left)))
                : Optional.empty();
    }

    public String line(TrainEvent.EpochDone epoch) {
        return epoch(epoch.epoch())
                + numbers(epoch.loss(), epoch.accuracy())
                + validation(Optional.of(epoch))
                + String.format(Locale.ROOT, "%slr %s", GAP, rate(epoch.learningRate()))
                + speed();
    }

    public String beside(TrainEvent.Stepped stepped, Optional<TrainEvent.EpochDone> last) {
        return epoch(stepped.epoch()) + numbers(stepped.loss(), stepped.accuracy()) + validation(last) + speed();
    }

    private String epoch(int index) {
        return "epoch " + (index + 1) + "/" + epochs;
    }

    private static String numbers(double loss, double accuracy) {
        return String.format(Locale.ROOT, "%sloss %s%sacc %.1f%%", GAP, loss(loss), GAP, 100 * accuracy);
    }

    private static String validation(Optional<TrainEvent.EpochDone> epoch) {
        return epoch.filter(TrainEvent.EpochDone::isValidated)
                .map(done -> String.format(Locale.ROOT, "%sval_acc %.1f%%", GAP, 100 * (1 - done.validationError())))
                .orElse("");
    }

    private String speed() {
        String speed = imagesPerSecond().isPresent()
                ? GAP + Math.round(imagesPerSecond().getAsDouble()) + " img/s"
                : "";
        return speed + eta().map(time -> GAP + "eta " + time(time)).orElse("");
    }

    /** Formats a loss with 3 decimals, or 4 digits if it diverges. */
    public static String loss(double loss) {
        return String.format(Locale.ROOT, Math.abs(loss) < LARGE ? "%.3f" : "%.4g", loss);
    }

    /** Formats a learning rate with 2 digits, as {@code 0.97} or {@code 9.7e-05}. */
    public static String rate(double rate) {
        return rate == 0 ? "0" : String.format(Locale.ROOT, "%.2g", rate);
    }

    /** Formats a time as {@code 0:27} or {@code 1:02:03}. */
    public static String time(Duration time) {
        long seconds = Math.max(1, Math.round(time.toMillis() / 1e3));
        return seconds < 3600
                ? String.format(Locale.ROOT, "%d:%02d", seconds / 60, seconds % 60)
                : String.format(Locale.ROOT, "%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
}
