package org.gramian.train.loop;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import org.gramian.train.recipe.Improvement;
import org.gramian.train.recipe.ValidationScore;

/** Events of training, sent to the listener as they happen. */
public sealed interface TrainEvent {
    /**
     * Features are being collected, or images scored.
     *
     * @param task for progress bars
     * @param done images so far
     * @param all images
     */
    record Collecting(String task, long done, long all) implements TrainEvent {}

    /**
     * A classifier is being solved.
     *
     * @param task for progress bars
     * @param done problems or crops so far
     * @param all problems or crops
     */
    record Solving(String task, long done, long all) implements TrainEvent {}

    /**
     * A classifier was solved in place of stage 1.
     *
     * @param classifier as {@code svm}
     * @param found values by name, as {@code C} and {@code gap}
     */
    record Solved(String classifier, SequencedMap<String, Double> found) implements TrainEvent {
        public Solved {
            found = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(found));
        }

        /** Returns the text form, as {@code svm, C 10, gap 5.1e-07}. */
        public String text() {
            return classifier
                    + found.entrySet().stream()
                            .map(one -> String.format(Locale.ROOT, ", %s %s", one.getKey(), number(one.getValue())))
                            .collect(Collectors.joining())
                    + (found.containsKey("temperature")
                            ? ""
                            : ", not calibrated: a class has too few images for cross-validation");
        }

        private static String number(double value) {
            return value == Math.rint(value) ? Long.toString((long) value) : String.format(Locale.ROOT, "%.3g", value);
        }
    }

    /**
     * The classifier was solved again at the end of stage 1.
     *
     * @param solution the solved classifier
     * @param kept whether it replaces the trained classifier
     * @param trained validation score of the trained classifier; empty without a validation set
     * @param solved validation score of the solved classifier
     */
    record Refitted(Solved solution, boolean kept, Optional<ValidationScore> trained, Optional<ValidationScore> solved)
            implements TrainEvent {
        /** Returns the text form, as {@code validation accuracy 83.3 % and loss 0.61, trained 81.2 % and 0.65: kept (svm, C 10)}. */
        public String text() {
            String accuracies = trained.isPresent() && solved.isPresent()
                    ? String.format(
                            Locale.ROOT,
                            "validation accuracy %.1f %% and loss %.3f, trained %.1f %% and %.3f",
                            100 * (1 - solved.get().error()),
                            solved.get().loss(),
                            100 * (1 - trained.get().error()),
                            trained.get().loss())
                    : solution.found().containsKey("cv_accuracy")
                            ? String.format(
                                    Locale.ROOT,
                                    "cross-validation accuracy %.1f %%",
                                    100 * solution.found().getOrDefault("cv_accuracy", 0.0))
                            : "no cross-validation";
            return accuracies + (kept ? ": used (" : ": not used, the trained classifier is better (") + solution.text()
                    + ")";
        }
    }

    /**
     * The classifier is not solved again at the end of stage 1.
     *
     * @param reason why
     */
    record RefitSkipped(String reason) implements TrainEvent {}

    /**
     * A pooling was compared with others on training images.
     *
     * @param entry its accuracy
     */
    record PoolingCompared(PoolingSelection.Entry entry) implements TrainEvent {}

    /**
     * A range test found the learning rate of a stage.
     *
     * @param result the rate and the losses
     * @param seconds that it took
     */
    record RateFound(LearningRateFinder.Result result, double seconds) implements TrainEvent {
        /** Returns one line, as {@code learning rate of stage 2: 0.0002 (range test of 53 steps, 48.0 s)}. */
        public String text() {
            int steps = result.points().size();
            String test = steps == 0
                    ? "no range test for fewer than " + LearningRateFinder.FEWEST_STEPS + " steps"
                    : String.format(Locale.ROOT, "range test of %d steps, %.1f s", steps, seconds);
            String reason =
                    result.found() ? "" : ", the default" + (steps == 0 ? "" : " because the loss does not decrease");
            return "learning rate of stage " + result.stage() + ": " + result.rateText() + reason + " (" + test + ")";
        }
    }

    /**
     * A stage begins or resumes.
     *
     * @param stage 1 or 2
     * @param epochs at most, unless it is extended
     * @param steps in each epoch
     * @param crops training crops in each epoch
     */
    record StageStarted(int stage, int epochs, int steps, int crops) implements TrainEvent {}

    /**
     * A step was taken.
     *
     * @param stage 1 or 2
     * @param epoch from 0
     * @param step steps of this epoch so far
     * @param seen crops of this epoch so far
     * @param loss mean over them
     * @param accuracy on them, each before the step that learned from it
     */
    record Stepped(int stage, int epoch, int step, int seen, double loss, double accuracy) implements TrainEvent {}

    /**
     * An epoch is done.
     *
     * @param stage 1 or 2
     * @param epoch from 0
     * @param learningRate at its last step
     * @param loss mean over the training crops, each before the step that learned from it
     * @param accuracy on the training crops, each before the step that learned from it
     * @param validation score on the validation set, or by the training loss without one
     * @param best whether it is the best epoch of the stage so far
     * @param orthogonality largest {@code max |WᵀW − I|} of the parameters on a Stiefel manifold; empty without any
     */
    record EpochDone(
            int stage,
            int epoch,
            double learningRate,
            double loss,
            double accuracy,
            ValidationScore validation,
            boolean best,
            OptionalDouble orthogonality)
            implements TrainEvent {}

    /**
     * A stage gets more epochs because the loss still falls.
     *
     * @param stage 1 or 2
     * @param epochs at most from now on
     * @param improvement of its last epochs
     */
    record StageExtended(int stage, int epochs, Improvement improvement) implements TrainEvent {}

    /**
     * A stage is done.
     *
     * @param stage 1 or 2
     * @param epochs completed
     * @param kept epoch of the best parameters, from 0; -1 for the initial ones
     * @param reason of the end
     * @param improving fall of the loss in the last epochs, if it is relevant and only the number of epochs ended the stage
     */
    record StageDone(int stage, int epochs, int kept, String reason, Optional<Improvement> improving)
            implements TrainEvent {}
}
