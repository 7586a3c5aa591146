package org.gramian.cli.train;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.EpochText;
import org.gramian.cli.common.Progress;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Interval;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.AuditReport.UnreadableImage;
import org.gramian.image.audit.Severity;
import org.gramian.run.RunEvent;
import org.gramian.run.StageClock;
import org.gramian.train.loop.PoolingSelection;
import org.gramian.train.loop.TrainEvent;
import org.gramian.train.loop.TrainEvent.Collecting;
import org.gramian.train.loop.TrainEvent.EpochDone;
import org.gramian.train.loop.TrainEvent.PoolingCompared;
import org.gramian.train.loop.TrainEvent.RateFound;
import org.gramian.train.loop.TrainEvent.RefitSkipped;
import org.gramian.train.loop.TrainEvent.Refitted;
import org.gramian.train.loop.TrainEvent.Solved;
import org.gramian.train.loop.TrainEvent.Solving;
import org.gramian.train.loop.TrainEvent.StageDone;
import org.gramian.train.loop.TrainEvent.StageExtended;
import org.gramian.train.loop.TrainEvent.StageStarted;
import org.gramian.train.loop.TrainEvent.Stepped;
import org.gramian.train.recipe.Improvement;
import org.jspecify.annotations.Nullable;

/**
 * Shows a training run: one updating bar per stage on a terminal, one line per epoch in a log, one JSON object per event with
 * {@code --log-format json}.
 */
final class TrainDisplay implements Consumer<RunEvent>, AutoCloseable {
    private static final int FILES_SHOWN = 10;

    private final Console console;
    private final TrainEventJson json;
    private final StageClock clock = new StageClock(InstantSource.system());
    private @Nullable Progress progress;
    private String task = "";
    private String row = "";
    private String fold = "";
    private @Nullable StageStarted stage;
    private Optional<EpochDone> lastEpoch = Optional.empty();
    private Optional<EpochDone> bestEpoch = Optional.empty();
    /** Whether the current fold did any work, and how many folds did, since when. */
    private boolean atWork;

    private int foldsTrained;
    private long foldStart;
    private long foldNanos;
    private boolean trained;

    TrainDisplay(Console console) {
        this.console = console;
        this.json = new TrainEventJson(console, clock);
    }

    /**
     * Begins a row of a table.
     *
     * @param name prefix of all its lines, as {@code row 2/5 bcnn, }
     */
    synchronized void row(String name) {
        row = name;
        fold = name;
        foldsTrained = 0; // the folds of another method take another time
        foldNanos = 0;
    }

    /** Returns whether anything was trained. */
    synchronized boolean trained() {
        return trained;
    }

    @Override
    public synchronized void accept(RunEvent event) {
        track(event);
        if (console.isJson()) {
            json.accept(event, stage, fold);
        } else {
            show(event);
        }
        if (event instanceof RunEvent.FoldDone && atWork) {
            foldsTrained++;
            foldNanos += System.nanoTime() - foldStart;
        }
    }

    /** Keeps the state that both forms of output need. */
    private void track(RunEvent event) {
        switch (event) {
            case RunEvent.FoldStarted started -> {
                fold = row + (started.of() == 1 ? "" : "fold " + started.number() + "/" + started.of() + ", ");
                atWork = false;
                foldStart = System.nanoTime();
            }
            case RunEvent.Training training -> {
                atWork = true;
                trained = true;
                track(training.event());
            }
            case RunEvent.Auditing _ -> {}
            case RunEvent.Audited _ -> {}
            case RunEvent.Remark _ -> {}
            case RunEvent.PoolingChosen _ -> {}
            case RunEvent.Measured _ -> {}
            case RunEvent.FoldDone _ -> {}
        }
    }

    private void track(TrainEvent event) {
        if (event instanceof StageStarted started) {
            stage = started;
            lastEpoch = Optional.empty();
            bestEpoch = Optional.empty();
            clock.started(started);
        } else if (event instanceof RateFound && stage != null) {
            clock.started(stage); // the range test took the time until now
        } else if (event instanceof Stepped stepped) {
            clock.stepped(stepped);
        } else if (event instanceof EpochDone done) {
            clock.epochDone();
            lastEpoch = Optional.of(done);
            bestEpoch = done.best() ? lastEpoch : bestEpoch;
        } else if (event instanceof StageExtended extended && stage != null) {
            stage = new StageStarted(extended.stage(), extended.epochs(), stage.steps(), stage.crops());
            clock.extended(stage);
        }
    }

    private void show(RunEvent event) {
        switch (event) {
            case RunEvent.Auditing auditing -> show("checking images", auditing.all(), auditing.done());
            case RunEvent.Audited audited -> show(audited.report());
            case RunEvent.Remark remark -> say(remark.text());
            case RunEvent.FoldStarted started ->
                say("%ssplit '%s': %d train, %d validation, %d test images%s"
                        .formatted(
                                fold,
                                started.fold().name(),
                                started.fold().parts().training().size(),
                                started.fold().parts().validation().size(),
                                started.fold().parts().test().size(),
                                remaining(started)));
            case RunEvent.Training training -> show(training.event());
            case RunEvent.PoolingChosen chosen -> show(chosen.result());
            case RunEvent.Measured measured -> say(fold + testAccuracy(measured.evaluation(), measured.stage()));
            case RunEvent.FoldDone over -> {
                done();
                if (!atWork) {
                    say(fold + "finished before; " + testAccuracy(over.result().evaluation()));
                }
            }
        }
    }

    /** The remaining time of all folds, measured on those trained so far. */
    private String remaining(RunEvent.FoldStarted started) {
        return foldsTrained == 0
                ? ""
                : "; eta "
                        + EpochText.time(
                                Duration.ofNanos(foldNanos / foldsTrained * (started.of() - started.number() + 1)));
    }

    private static String testAccuracy(Evaluation evaluation, int stage) {
        return testAccuracy(evaluation) + (stage == 1 ? ", frozen backbone" : ", fine-tuned");
    }

    /** Returns the accuracy with its confidence interval, as {@code test accuracy 69.2 % (95 % CI 63.1–74.7)}. */
    static String testAccuracy(Evaluation evaluation) {
        Interval interval = evaluation.accuracy().interval();
        return String.format(
                Locale.ROOT,
                "test accuracy %.1f %% (95 %% CI %.1f–%.1f)",
                100 * evaluation.accuracy().value(),
                100 * interval.low(),
                100 * interval.high());
    }

    private void show(AuditReport report) {
        done();
        report.findings().stream()
                .filter(finding -> finding.severity() != Severity.NOTE)
                .forEach(finding -> console.warn(finding.severity().text() + ": " + finding.sentence()));
        List<UnreadableImage> unreadable = report.unreadable();
        unreadable.stream()
                .limit(FILES_SHOWN)
                .forEach(one -> console.warn("skipping " + one.image().name() + ": " + one.reason()));
        if (unreadable.size() > FILES_SHOWN) {
            console.warn("skipping " + (unreadable.size() - FILES_SHOWN) + " more; list all with: "
                    + CommandHint.of("audit", report.root()));
        }
    }

    private void show(PoolingSelection.Result selection) {
        PoolingSelection.Entry best = selection.best();
        say(String.format(
                Locale.ROOT,
                "%spooling %s: %.1f %% leave-one-out accuracy on %d training images, best of %d",
                fold,
                best.name(),
                100 * best.accuracy(),
                selection.images(),
                selection.entries().size()));
    }

    private void show(TrainEvent event) {
        switch (event) {
            case Collecting collecting -> show(fold + collecting.task(), collecting.all(), collecting.done());
            case Solving solving -> show(fold + solving.task(), solving.all(), solving.done());
            case PoolingCompared compared -> show(compared);
            case Solved found -> say(fold + "classifier " + solution(found));
            case RateFound found -> say(fold + found.text());
            case Refitted refit -> say(fold + refit(refit));
            case RefitSkipped skipped -> say(fold + "classifier not refit: " + skipped.reason());
            case StageStarted started ->
                say("%s%s: at most %d epochs of %d crops"
                        .formatted(fold, name(started.stage()), started.epochs(), started.crops()));
            case Stepped stepped -> show(stepped);
            case EpochDone done -> show(done);
            case StageExtended extended ->
                say(String.format(
                        Locale.ROOT,
                        "%scontinuing to epoch %d: the loss fell by %.1f %% in the last %d epochs",
                        fold,
                        extended.epochs(),
                        100 * extended.improvement().share(),
                        Improvement.EPOCHS));
            case StageDone done -> say(fold + name(done.stage()) + ": " + ending(done));
        }
    }

    private static String name(int stage) {
        return stage == 1 ? "training head" : "fine-tuning";
    }

    /** As {@code 12 epochs, early stopping; best epoch 9  val_acc 83.3%}. */
    private String ending(StageDone done) {
        String best = done.kept() < 0
                ? "initial weights kept"
                : "best epoch " + (done.kept() + 1)
                        + bestEpoch
                                .filter(epoch -> epoch.epoch() == done.kept() && EpochText.isValidated(epoch))
                                .map(epoch -> String.format(
                                        Locale.ROOT,
                                        " (val_acc %.1f%%)",
                                        100 * (1 - epoch.validation().error())))
                                .orElse("");
        return done.epochs() + " epochs, " + done.reason() + "; " + best;
    }

    /** As {@code svm: C 10, cross-validation accuracy 81.2 %}. */
    private static String solution(Solved found) {
        StringBuilder text = new StringBuilder(found.classifier());
        Double cost = found.found().get("C");
        if (cost != null) {
            text.append(": C ").append(Double.toString(cost).replaceFirst("\\.0$", ""));
        }
        Double accuracy = found.found().get("cv_accuracy");
        if (accuracy != null) {
            text.append(String.format(
                    Locale.ROOT, "%s cross-validation accuracy %.1f %%", cost == null ? ":" : ",", 100 * accuracy));
        }
        return text.append(found.found().containsKey("temperature") ? "" : ", not calibrated: too few images per class")
                .toString();
    }

    private static String refit(Refitted refit) {
        String accuracy = refit.trained().isPresent() && refit.solved().isPresent()
                ? String.format(
                        Locale.ROOT,
                        "; val_acc %.1f%% against %.1f%% before",
                        100 * (1 - refit.solved().get().error()),
                        100 * (1 - refit.trained().get().error()))
                : "";
        return "classifier refit by " + solution(refit.solution()) + accuracy
                + (refit.kept() ? ", kept" : ", not kept");
    }

    private void show(PoolingCompared compared) {
        if (progress != null) {
            PoolingSelection.Entry entry = compared.entry();
            progress.remark(String.format(Locale.ROOT, "%s %.1f%%", entry.name(), 100 * entry.accuracy()));
        }
    }

    private void show(Stepped stepped) {
        StageStarted present = stage;
        if (present == null) {
            return;
        }
        long steps = (long) stepped.epoch() * present.steps() + stepped.step();
        show(fold + name(stepped.stage()), (long) present.epochs() * present.steps(), steps);
        if (progress != null) {
            progress.remark(new EpochText(present, clock).beside(stepped, lastEpoch));
        }
    }

    /** On a terminal, the bar shows the epoch. */
    private void show(EpochDone done) {
        if (stage != null && !console.hasBars()) {
            done();
            console.line(fold + new EpochText(stage, clock).line(done));
        }
    }

    private void show(String wanted, long all, long done) {
        if (progress == null || !task.equals(wanted)) {
            done();
            task = wanted;
            progress = console.progress(wanted, all);
        }
        progress.accept(done);
    }

    private void say(String sentence) {
        done();
        console.say(sentence);
    }

    private void done() {
        if (progress != null) {
            progress.close();
            progress = null;
        }
    }

    @Override
    public synchronized void close() {
        done();
    }
}
