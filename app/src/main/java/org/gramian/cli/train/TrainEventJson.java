package org.gramian.cli.train;

import java.util.LinkedHashMap;
import java.util.Map;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.EpochText;
import org.gramian.cli.common.Progress;
import org.gramian.evaluate.Evaluation;
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
import org.jspecify.annotations.Nullable;

/** Writes the events of a run for {@code --log-format json}; accuracies are fractions, epochs and stages count from 1. */
final class TrainEventJson {
    private static final String STAGE = "stage";

    private final Console console;
    private final StageClock clock;
    private @Nullable Progress progress;
    private String task = "";

    TrainEventJson(Console console, StageClock clock) {
        this.console = console;
        this.clock = clock;
    }

    /**
     * Writes an event.
     *
     * @param stage current stage, if training began
     * @param prefix row and fold, as {@code fold 2/3, }
     */
    void accept(RunEvent event, @Nullable StageStarted stage, String prefix) {
        switch (event) {
            case RunEvent.Auditing auditing -> progress("checking images", auditing.all(), auditing.done());
            case RunEvent.Audited audited -> {
                audited.report().findings().stream()
                        .filter(finding -> finding.severity() != Severity.NOTE)
                        .forEach(finding -> console.warn(finding.sentence()));
                audited.report()
                        .unreadable()
                        .forEach(one -> console.warn("skipping " + one.image().name() + ": " + one.reason()));
            }
            case RunEvent.Remark remark -> console.say(remark.text());
            case RunEvent.FoldStarted started ->
                write(
                        "fold",
                        prefix,
                        values(
                                "name", started.fold().name(),
                                "number", started.number(),
                                "of", started.of(),
                                "train", started.fold().parts().training().size(),
                                "validation",
                                        started.fold().parts().validation().size(),
                                "test", started.fold().parts().test().size()));
            case RunEvent.Training training -> accept(training.event(), stage, prefix);
            case RunEvent.PoolingChosen chosen ->
                write("pooling", prefix, pooling(chosen.result().best()));
            case RunEvent.Measured measured -> {
                Map<String, Object> values = accuracy(measured.evaluation());
                values.put(STAGE, measured.stage());
                write("test", prefix, values);
            }
            case RunEvent.FoldDone over ->
                write("fold_done", prefix, accuracy(over.result().evaluation()));
        }
    }

    private void accept(TrainEvent event, @Nullable StageStarted stage, String prefix) {
        switch (event) {
            case Collecting collecting -> progress(collecting.task(), collecting.all(), collecting.done());
            case Solving solving -> progress(solving.task(), solving.all(), solving.done());
            case PoolingCompared compared -> write("pooling_candidate", prefix, pooling(compared.entry()));
            case Solved found -> write("classifier", prefix, solution(found));
            case RateFound found ->
                write("learning_rate", prefix, values(STAGE, found.result().stage(), "text", found.text()));
            case Refitted refit -> {
                Map<String, Object> values = solution(refit.solution());
                values.put("kept", refit.kept());
                write("refit", prefix, values);
            }
            case RefitSkipped skipped -> console.say(prefix + "classifier not refit: " + skipped.reason());
            case StageStarted started ->
                write(
                        "stage_start",
                        prefix,
                        values(STAGE, started.stage(), "epochs", started.epochs(), "crops", started.crops()));
            case Stepped _ -> {} // one object per epoch is enough
            case EpochDone done -> {
                if (stage != null) {
                    write("epoch", prefix, epoch(done, stage));
                }
            }
            case StageExtended extended ->
                write("stage_extended", prefix, values(STAGE, extended.stage(), "epochs", extended.epochs()));
            case StageDone done ->
                write(
                        "stage_end",
                        prefix,
                        values(
                                STAGE,
                                done.stage(),
                                "epochs",
                                done.epochs(),
                                "best_epoch",
                                done.kept() + 1,
                                "reason",
                                done.reason()));
        }
    }

    private Map<String, Object> epoch(EpochDone done, StageStarted stage) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put(STAGE, done.stage());
        values.put("epoch", done.epoch() + 1);
        values.put("epochs", stage.epochs());
        values.put("loss", done.loss());
        values.put("acc", done.accuracy());
        if (EpochText.isValidated(done)) {
            values.put("val_loss", done.validation().loss());
            values.put("val_acc", 1 - done.validation().error());
        }
        values.put("best", done.best());
        values.put("lr", done.learningRate());
        clock.imagesPerSecond().ifPresent(speed -> values.put("images_per_second", speed));
        clock.eta().ifPresent(eta -> values.put("eta_seconds", eta.toMillis() / 1e3));
        return values;
    }

    private static Map<String, Object> accuracy(Evaluation evaluation) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("accuracy", evaluation.accuracy().value());
        values.put("ci_low", evaluation.accuracy().interval().low());
        values.put("ci_high", evaluation.accuracy().interval().high());
        values.put("images", evaluation.accuracy().count());
        return values;
    }

    private static Map<String, Object> pooling(PoolingSelection.Entry entry) {
        return values("name", entry.name(), "pooling", entry.pooling(), "accuracy", entry.accuracy());
    }

    private static Map<String, Object> solution(Solved found) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("classifier", found.classifier());
        values.putAll(found.found());
        return values;
    }

    /** A map of names and values, in this order. */
    private static Map<String, Object> values(Object... pairs) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            values.put(pairs[i].toString(), pairs[i + 1]);
        }
        return values;
    }

    private void progress(String wanted, long all, long done) {
        if (progress == null || !task.equals(wanted)) {
            task = wanted;
            progress = console.progress(wanted, all);
        }
        progress.accept(done);
    }

    private void write(String name, String prefix, Map<String, ?> values) {
        Map<String, Object> all = new LinkedHashMap<>();
        if (!prefix.isEmpty()) {
            all.put("run", prefix.replaceFirst(", $", ""));
        }
        all.putAll(values);
        console.event(name, all);
    }
}
