package org.gramian;

import java.util.OptionalDouble;
import java.util.function.Consumer;
import org.gramian.run.RunEvent;
import org.gramian.train.loop.TrainEvent;

/** Translates the events of a run into those of the public API. Receives one event at a time. */
final class ProgressTranslation implements Consumer<RunEvent> {
    private final Consumer<TrainingProgress> listener;
    private int fold = 1;
    private int folds = 1;
    private int epochs;
    private int steps;
    private boolean validated;

    ProgressTranslation(Consumer<TrainingProgress> listener) {
        this.listener = listener;
    }

    @Override
    public synchronized void accept(RunEvent event) {
        switch (event) {
            case RunEvent.Auditing(long done, long all) -> task("reading images", done, all);
            case RunEvent.Audited(var report) -> {
                if (!report.unreadable().isEmpty()) {
                    message(report.unreadable().size() + " unreadable images are left out");
                }
            }
            case RunEvent.Remark(String text) -> message(text);
            case RunEvent.FoldStarted(int number, int of, var plan) -> {
                fold = number;
                folds = of;
                validated = !plan.parts().validation().isEmpty();
            }
            case RunEvent.PoolingChosen(var result) ->
                message("pooling " + result.entries().getFirst().pooling() + " chosen by cross-validation");
            case RunEvent.Measured _ -> {}
            case RunEvent.FoldDone(var result) ->
                listener.accept(new TrainingProgress.FoldDone(fold, folds, TrainingReport.Fold.of(result)));
            case RunEvent.Training(TrainEvent inner) -> training(inner);
        }
    }

    private void training(TrainEvent event) {
        switch (event) {
            case TrainEvent.Collecting(String name, long done, long all) -> task(name, done, all);
            case TrainEvent.Solving(String name, long done, long all) -> task(name, done, all);
            case TrainEvent.StageStarted started -> {
                epochs = started.epochs();
                steps = started.steps();
            }
            case TrainEvent.StageExtended extended -> epochs = extended.epochs();
            case TrainEvent.Stepped step -> task("epoch " + (step.epoch() + 1), step.step(), steps);
            case TrainEvent.EpochDone done ->
                listener.accept(new TrainingProgress.Epoch(
                        fold,
                        done.stage(),
                        done.epoch() + 1,
                        epochs,
                        done.learningRate(),
                        done.loss(),
                        done.accuracy(),
                        validated ? OptionalDouble.of(1 - done.validation().error()) : OptionalDouble.empty()));
            case TrainEvent.Solved solved -> message("classifier solved: " + solved.text());
            case TrainEvent.Refitted refitted -> message("classifier solved again: " + refitted.text());
            case TrainEvent.RefitSkipped(String reason) -> message(reason);
            case TrainEvent.RateFound found -> message(found.text());
            case TrainEvent.PoolingCompared _, TrainEvent.StageDone _ -> {}
        }
    }

    private void task(String name, long done, long total) {
        listener.accept(new TrainingProgress.Task(name, done, total));
    }

    private void message(String text) {
        listener.accept(new TrainingProgress.Message(text));
    }
}
