package org.gramian.train.event;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/**
 * Progress of training, sent to a listener as it happens. Stages are 1, the head on a frozen backbone, and 2, fine-tuning.
 *
 * @since 0.1
 */
public sealed interface TrainEvent {
    /**
     * A countable task goes on: reading images, computing features, solving a classifier.
     *
     * @param name for progress bars
     * @param done so far
     * @param total of the task
     */
    record Task(String name, long done, long total) implements TrainEvent {}

    /**
     * A sentence for the user.
     *
     * @param text one sentence
     */
    record Warning(String text) implements TrainEvent {}

    /**
     * All images were read once.
     *
     * @param root folder of the dataset
     * @param findings that need attention
     * @param unreadable images, which are left out
     */
    record Audited(String root, List<Finding> findings, List<UnreadableImage> unreadable) implements TrainEvent {
        public Audited {
            findings = List.copyOf(findings);
            unreadable = List.copyOf(unreadable);
        }

        /**
         * A finding of the audit.
         *
         * @param severity as {@code warning}
         * @param text one sentence
         */
        public record Finding(String severity, String text) {}

        /**
         * An image that cannot be read.
         *
         * @param name of the image
         * @param reason why it cannot be read
         */
        public record UnreadableImage(String name, String reason) {}
    }

    /**
     * A fold begins or resumes.
     *
     * @param number from 1
     * @param folds number of folds
     * @param name of the fold
     * @param training number of training images
     * @param validation number of validation images
     * @param validationSource where they come from, as {@code valid/}; empty without any
     * @param test number of test images
     */
    record FoldStarted(
            int number, int folds, String name, int training, int validation, String validationSource, int test)
            implements TrainEvent {}

    /**
     * The first model of a run, a linear classifier on average pooling, is written. Others replace it.
     *
     * @param test its accuracy
     * @param images number of training images
     * @param model its file
     */
    record FirstModel(TestAccuracy test, int images, Path model) implements TrainEvent {}

    /**
     * A head was cross-validated on training images.
     *
     * @param name of its pooling in tables, e.g. {@code iSQRT-COV of block20}
     * @param pooling text form
     * @param classifier text form of the solver
     * @param size numbers per image: the length of the descriptor
     * @param accuracy cross-validated on training images
     * @param error standard error of the accuracy
     * @param behind accuracy of the leading or selected head minus this one
     * @param behindError standard error of that difference, on the same images
     */
    record HeadCandidate(
            String name,
            String pooling,
            String classifier,
            long size,
            double accuracy,
            double error,
            double behind,
            double behindError)
            implements TrainEvent {
        /** Returns whether it averages features only. */
        public boolean isFirstOrder() {
            return !pooling.matches(".*(bilinear|rbf|covariance).*");
        }
    }

    /**
     * A search selected the head of a fold.
     *
     * @param best the selected head
     * @param firstOrder the best head of averages, if a second-order head is selected
     * @param images number of training images used
     * @param candidates number of compared heads
     */
    record HeadChosen(HeadCandidate best, Optional<HeadCandidate> firstOrder, int images, int candidates)
            implements TrainEvent {}

    /**
     * A head was learned by epochs in competition with a solved one.
     *
     * @param seconds time of learning
     * @param solvedSeconds time of comparing heads and solving the selected one
     */
    record HeadLearned(double seconds, double solvedSeconds) implements TrainEvent {
        /** Returns the share of learning in the time of both. */
        public double share() {
            return seconds / (seconds + solvedSeconds);
        }
    }

    /**
     * A classifier was fitted by a solver.
     *
     * @param classifier as {@code svm}
     * @param values by name, as {@code C} and {@code gap}
     */
    record Solved(String classifier, SequencedMap<String, Double> values) implements TrainEvent {
        public Solved {
            values = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(values));
        }

        /** Returns the text form, as {@code svm, C 10, gap 5.1e-07}. */
        public String text() {
            return classifier
                    + values.entrySet().stream()
                            .map(one -> String.format(Locale.ROOT, ", %s %s", one.getKey(), number(one.getValue())))
                            .collect(Collectors.joining())
                    + (calibration().isPresent()
                            ? ""
                            : ", not calibrated: a class has too few images for cross-validation");
        }

        /** Returns what calibrated the scores; empty if there were too few images. */
        public Optional<String> calibration() {
            return values.containsKey("temperature")
                    ? Optional.of(
                            number(values.getOrDefault("folds", 0.0)) + "-fold cross-validation of the training images")
                    : Optional.empty();
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
     * @param trainedAccuracy validation accuracy of the trained classifier; empty without a validation set
     * @param solvedAccuracy validation accuracy of the solved classifier; empty without a validation set
     */
    record Refitted(Solved solution, boolean kept, OptionalDouble trainedAccuracy, OptionalDouble solvedAccuracy)
            implements TrainEvent {}

    /**
     * The classifier is not solved again at the end of stage 1.
     *
     * @param reason why
     */
    record RefitSkipped(String reason) implements TrainEvent {}

    /**
     * A stage begins or resumes.
     *
     * @param stage 1 or 2
     * @param epochs at most
     * @param steps in each epoch
     * @param crops training crops in each epoch
     */
    record StageStarted(int stage, int epochs, int steps, int crops) implements TrainEvent {}

    /**
     * Fewer epochs fit into the time of a learned head, which its first epoch measured.
     *
     * @param stage 1
     * @param epochs at most
     */
    record EpochsLimited(int stage, int epochs) implements TrainEvent {}

    /**
     * A step was taken, or several.
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
     * An epoch is done. Without a validation set the training loss takes the place of the validation loss, with an error of 0.
     *
     * @param stage 1 or 2
     * @param epoch from 0
     * @param learningRate at its last step
     * @param loss mean over the training crops, each before the step that learned from it
     * @param accuracy on the training crops, each before the step that learned from it
     * @param validationError error rate on the validation set
     * @param validationLoss mean cross-entropy on the validation set
     * @param best whether it is the best epoch of the stage so far
     * @param orthogonality largest {@code max |WᵀW − I|} of the parameters on a Stiefel manifold; empty without any
     */
    record EpochDone(
            int stage,
            int epoch,
            double learningRate,
            double loss,
            double accuracy,
            double validationError,
            double validationLoss,
            boolean best,
            OptionalDouble orthogonality)
            implements TrainEvent {
        /** Returns whether there is a validation set. */
        public boolean isValidated() {
            return validationError != 0 || validationLoss != loss;
        }

        /** Returns the accuracy on the validation set; empty without one. */
        public OptionalDouble validationAccuracy() {
            return isValidated() ? OptionalDouble.of(1 - validationError) : OptionalDouble.empty();
        }
    }

    /**
     * All epochs of a stage are done, or early stopping ended it.
     *
     * @param stage 1 or 2
     * @param epochs completed
     * @param kept epoch of the best parameters, from 0; -1 for the initial ones
     * @param reason of the end
     */
    record StageDone(int stage, int epochs, int kept, String reason) implements TrainEvent {}

    /**
     * Accuracy on the test set.
     *
     * @param value fraction of correctly classified images
     * @param low end of its 95 % confidence interval
     * @param high end of its 95 % confidence interval
     * @param images number of test images
     */
    record TestAccuracy(double value, double low, double high, int images) {}

    /**
     * The model of a stage was evaluated on the test set.
     *
     * @param stage 1 or 2
     * @param test its accuracy
     */
    record Evaluated(int stage, TestAccuracy test) implements TrainEvent {}

    /**
     * A fold is trained and evaluated.
     *
     * @param number from 1
     * @param folds number of folds
     * @param folder of its files
     * @param test accuracy of its model
     */
    record FoldDone(int number, int folds, Path folder, TestAccuracy test) implements TrainEvent {}
}
