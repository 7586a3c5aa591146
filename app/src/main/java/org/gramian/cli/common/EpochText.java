package org.gramian.cli.common;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.gramian.run.StageClock;
import org.gramian.train.event.TrainEvent;

/** One line about an epoch, as {@code epoch 3/25  loss 1.710  acc 44.6%  val_acc 53.3%  lr 0.97  416 img/s  eta 0:27}. */
public record EpochText(TrainEvent.StageStarted stage, StageClock clock) {
    private static final String GAP = "  ";
    private static final double LARGE = 1000;

    public String line(TrainEvent.EpochDone done) {
        return epoch(done.epoch())
                + numbers(done.loss(), done.accuracy())
                + validation(Optional.of(done))
                + String.format(Locale.ROOT, "%slr %s", GAP, rate(done.learningRate()))
                + speed();
    }

    public String beside(TrainEvent.Stepped stepped, Optional<TrainEvent.EpochDone> last) {
        return epoch(stepped.epoch()) + numbers(stepped.loss(), stepped.accuracy()) + validation(last) + speed();
    }

    private String epoch(int index) {
        return "epoch " + (index + 1) + "/" + stage.epochs();
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
        String speed = clock.imagesPerSecond().isPresent()
                ? GAP + Math.round(clock.imagesPerSecond().getAsDouble()) + " img/s"
                : "";
        return speed + clock.eta().map(time -> GAP + "eta " + time(time)).orElse("");
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
