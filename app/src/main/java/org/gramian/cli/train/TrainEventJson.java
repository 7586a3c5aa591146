package org.gramian.cli.train;

import java.util.LinkedHashMap;
import java.util.Map;
import org.gramian.cli.common.Console;
import org.gramian.run.StageClock;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.Evaluated;
import org.gramian.train.event.TrainEvent.FirstModel;
import org.gramian.train.event.TrainEvent.FoldDone;
import org.gramian.train.event.TrainEvent.FoldStarted;
import org.gramian.train.event.TrainEvent.HeadCandidate;
import org.gramian.train.event.TrainEvent.HeadChosen;
import org.gramian.train.event.TrainEvent.Refitted;
import org.gramian.train.event.TrainEvent.Solved;
import org.gramian.train.event.TrainEvent.StageDone;
import org.gramian.train.event.TrainEvent.StageStarted;
import org.gramian.train.event.TrainEvent.TestAccuracy;
import org.jspecify.annotations.Nullable;

/**
 * Writes the numbers of a run for {@code --log-format json}; accuracies are fractions, epochs and stages count from 1. Progress,
 * warnings and findings are those of {@link TrainDisplay}.
 */
final class TrainEventJson {
    private final Console console;
    private final StageClock clock;

    TrainEventJson(Console console, StageClock clock) {
        this.console = console;
        this.clock = clock;
    }

    /**
     * Writes an event of training; of the others nothing.
     *
     * @param prefix row and fold, as {@code fold 2/3, }
     */
    void accept(TrainEvent event, @Nullable StageStarted stage, String prefix) {
        switch (event) {
            case FoldStarted fold ->
                write(
                        "fold",
                        prefix,
                        values(
                                "name", fold.name(),
                                "number", fold.number(),
                                "of", fold.folds(),
                                "train", fold.training(),
                                "validation", fold.validation(),
                                "validation_source", fold.validationSource(),
                                "test", fold.test()));
            case FirstModel first -> {
                Map<String, Object> values = accuracy(first.test());
                values.put("train", first.images());
                values.put("model", first.model().toString());
                write("first_model", prefix, values);
            }
            case HeadCandidate candidate -> write("head_candidate", prefix, head(candidate));
            case HeadChosen chosen -> write("head", prefix, head(chosen.best()));
            case Solved found -> write("classifier", prefix, solution(found));
            case Refitted refit -> {
                Map<String, Object> values = solution(refit.solution());
                values.put("kept", refit.kept());
                write("refit", prefix, values);
            }
            case StageStarted started ->
                write(
                        "stage_start",
                        prefix,
                        values("stage", started.stage(), "epochs", started.epochs(), "crops", started.crops()));
            case EpochDone done -> {
                if (stage != null) {
                    write("epoch", prefix, epoch(done, stage));
                }
            }
            case StageDone done ->
                write(
                        "stage_end",
                        prefix,
                        values(
                                "stage", done.stage(),
                                "epochs", done.epochs(),
                                "best_epoch", done.kept() + 1,
                                "reason", done.reason()));
            case Evaluated evaluated -> {
                Map<String, Object> values = accuracy(evaluated.test());
                values.put("stage", evaluated.stage());
                write("test", prefix, values);
            }
            case FoldDone done -> write("fold_done", prefix, accuracy(done.test()));
            default -> {}
        }
    }

    private Map<String, Object> epoch(EpochDone done, StageStarted stage) {
        Map<String, Object> values = values(
                "stage", done.stage(),
                "epoch", done.epoch() + 1,
                "epochs", stage.epochs(),
                "loss", done.loss(),
                "acc", done.accuracy());
        if (done.isValidated()) {
            values.put("val_loss", done.validationLoss());
            values.put("val_acc", 1 - done.validationError());
        }
        values.put("best", done.best());
        values.put("lr", done.learningRate());
        clock.imagesPerSecond().ifPresent(speed -> values.put("images_per_second", speed));
        clock.eta().ifPresent(eta -> values.put("eta_seconds", eta.toMillis() / 1e3));
        return values;
    }

    private static Map<String, Object> accuracy(TestAccuracy test) {
        return values("accuracy", test.value(), "ci_low", test.low(), "ci_high", test.high(), "images", test.images());
    }

    private static Map<String, Object> head(HeadCandidate entry) {
        return values(
                "name", entry.name(),
                "pooling", entry.pooling(),
                "classifier", entry.classifier(),
                "size", entry.size(),
                "accuracy", entry.accuracy(),
                "standard_error", entry.error());
    }

    private static Map<String, Object> solution(Solved found) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("classifier", found.classifier());
        values.putAll(found.values());
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

    private void write(String name, String prefix, Map<String, ?> values) {
        Map<String, Object> all = new LinkedHashMap<>();
        if (!prefix.isEmpty()) {
            all.put("run", prefix.replaceFirst(", $", ""));
        }
        all.putAll(values);
        console.event(name, all);
    }
}
