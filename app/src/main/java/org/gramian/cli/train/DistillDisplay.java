package org.gramian.cli.train;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.EpochText;
import org.gramian.cli.common.Progress;
import org.gramian.train.distill.DistillEvent;
import org.gramian.train.distill.DistillEvent.EpochDone;
import org.gramian.train.distill.DistillEvent.Losses;
import org.gramian.train.distill.DistillEvent.Preparing;
import org.gramian.train.distill.DistillEvent.Skipped;
import org.gramian.train.distill.DistillEvent.Started;
import org.gramian.train.distill.DistillEvent.Stepped;
import org.jspecify.annotations.Nullable;

/** Shows a distillation: a bar on a terminal, one line per epoch, one JSON object per event with {@code --log-format json}. */
final class DistillDisplay implements Consumer<DistillEvent>, AutoCloseable {
    private static final int FILES_SHOWN = 10;
    private static final int BAR_STEPS = 1000;

    private final Console console;
    private @Nullable Progress progress;
    private String task = "";
    private int skipped;

    DistillDisplay(Console console) {
        this.console = console;
    }

    @Override
    public synchronized void accept(DistillEvent event) {
        switch (event) {
            case Preparing preparing ->
                progress(preparing.task(), preparing.all()).accept(preparing.done());
            case Skipped(var file, String reason) -> {
                skipped++;
                if (skipped <= FILES_SHOWN) {
                    console.warn("skipping " + file + ": " + reason
                            + (skipped == FILES_SHOWN ? "; further images are skipped silently" : ""));
                }
            }
            case Started started -> {
                close();
                console.say(String.format(
                        Locale.ROOT,
                        "%s %d images%s%s, batches of %d; the student has %,d parameters",
                        started.resumed() > 0 ? "resuming after epoch " + started.resumed() + " on" : "training on",
                        started.images(),
                        skipped > 0 ? " (" + skipped + " unreadable)" : "",
                        started.onDevice() ? " in GPU memory" : "",
                        started.batch(),
                        started.parameters()));
            }
            case Stepped stepped -> {
                Progress bar = progress("distilling", BAR_STEPS);
                bar.remark(text(stepped));
                bar.accept(Math.round(BAR_STEPS * stepped.position()));
            }
            case EpochDone done -> epoch(done);
        }
    }

    private void epoch(EpochDone done) {
        if (console.isJson()) {
            Map<String, Object> values = new LinkedHashMap<>();
            Losses losses = done.last().losses();
            values.put("epoch", done.last().epoch());
            values.put("loss", losses.total());
            values.put("feature_loss", losses.features());
            values.put("gram_loss", losses.grams());
            values.put("logit_loss", losses.logits());
            values.put("learning_rate", done.last().learningRate());
            done.last().imagesPerSecond().ifPresent(speed -> values.put("images_per_second", speed));
            done.probe().ifPresent(accuracy -> values.put("probe_accuracy", accuracy));
            console.event("epoch", values);
        } else {
            console.line(text(done.last())
                    + (done.probe().isPresent()
                            ? String.format(
                                    Locale.ROOT,
                                    "  probe_acc %.1f%%",
                                    100 * done.probe().getAsDouble())
                            : ""));
        }
    }

    private static String text(Stepped stepped) {
        Losses losses = stepped.losses();
        return "epoch " + stepped.epoch()
                + stepped.epochs().map(all -> "/" + all).orElse("")
                + "  loss " + EpochText.loss(losses.total())
                + "  feature " + EpochText.loss(losses.features())
                + "  gram " + EpochText.loss(losses.grams())
                + "  logit " + EpochText.loss(losses.logits())
                + "  lr " + EpochText.rate(stepped.learningRate())
                + (stepped.imagesPerSecond().isPresent()
                        ? String.format(
                                Locale.ROOT,
                                "  %.0f img/s",
                                stepped.imagesPerSecond().getAsDouble())
                        : "")
                + stepped.left()
                        .filter(left -> left.toSeconds() > 0)
                        .map(left -> "  eta " + EpochText.time(left))
                        .orElse("");
    }

    private Progress progress(String name, long steps) {
        Progress present = progress;
        if (present == null || !task.equals(name)) {
            close();
            present = console.progress(name, steps);
            progress = present;
            task = name;
        }
        return present;
    }

    @Override
    public synchronized void close() {
        if (progress != null) {
            progress.close();
            progress = null;
        }
    }
}
