package org.gramian.train.loop;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.gramian.train.recipe.ValidationScore;

/**
 * Progress of a stage: with the recipe and all parameters it determines the rest of the training.
 *
 * @param stage 1 or 2
 * @param epoch completed epochs of the stage
 * @param step completed steps of the current epoch
 * @param sums of the current epoch
 * @param past one record for each completed epoch
 * @param initial validation score of the model that the stage began with
 * @param kept epoch of the best parameters so far, from 0; -1 for the initial parameters
 * @param scale factor on the learning rate of the classifier, computed at the start of the stage
 * @param found learning rate from a {@link LearningRateFinder}; empty before its test, and where the recipe has one
 */
record TrainingProgress(
        int stage,
        int epoch,
        int step,
        EpochSums sums,
        List<EpochRecord> past,
        ValidationScore initial,
        int kept,
        double scale,
        OptionalDouble found) {
    TrainingProgress {
        past = List.copyOf(past);
        if (stage < 1 || stage > 2 || step < 0 || epoch != past.size() || kept < -1 || kept >= epoch) {
            throw new IllegalArgumentException("stage " + stage + ", epoch " + epoch + ", step " + step + " after "
                    + past.size() + " epochs with best epoch " + kept + " is not a valid training position");
        }
    }

    /**
     * A completed epoch.
     *
     * @param learningRate at its last step
     * @param loss mean training loss
     * @param accuracy on the training crops
     * @param validation score of the model after it
     */
    record EpochRecord(
            @JsonProperty("rate") double learningRate,
            double loss,
            double accuracy,
            @JsonProperty("judgement") ValidationScore validation) {}

    /** Returns the start of a stage. */
    static TrainingProgress startOf(int stage, ValidationScore initial, double scale) {
        return new TrainingProgress(stage, 0, 0, EpochSums.NONE, List.of(), initial, -1, scale, OptionalDouble.empty());
    }

    /** Returns the progress after more steps of the epoch. */
    TrainingProgress stepped(EpochSums after, int steps) {
        return new TrainingProgress(stage, epoch, step + steps, after, past, initial, kept, scale, found);
    }

    /** Returns the same progress with the learning rate that the range test found. */
    TrainingProgress withLearningRate(double rate) {
        return new TrainingProgress(stage, epoch, step, sums, past, initial, kept, scale, OptionalDouble.of(rate));
    }

    /** Returns the progress after the last step of an epoch. */
    TrainingProgress epochDone(EpochRecord record, boolean best) {
        List<EpochRecord> longer =
                Stream.concat(past.stream(), Stream.of(record)).toList();
        return new TrainingProgress(
                stage, epoch + 1, 0, EpochSums.NONE, longer, initial, best ? epoch : kept, scale, found);
    }

    /** Returns the validation score of the best parameters so far. */
    ValidationScore best() {
        return kept < 0 ? initial : past.get(kept).validation();
    }

    /** Returns the validation scores of all completed epochs. */
    List<ValidationScore> validations() {
        return past.stream().map(EpochRecord::validation).toList();
    }

    /**
     * Training loss and accuracy of the current epoch, as sums.
     *
     * @param loss sum over the crops
     * @param correct crops that were classified correctly
     * @param seen crops
     */
    record EpochSums(double loss, @JsonProperty("right") int correct, int seen) {
        static final EpochSums NONE = new EpochSums(0, 0, 0);

        /** Returns the sums after a batch with a mean loss. */
        EpochSums plus(double meanLoss, int batchCorrect, int crops) {
            return plusSum(meanLoss * crops, batchCorrect, crops);
        }

        /** Returns the sums after crops with a summed loss. */
        EpochSums plusSum(double losses, int batchCorrect, int crops) {
            return new EpochSums(loss + losses, correct + batchCorrect, seen + crops);
        }

        double meanLoss() {
            return loss / seen;
        }

        double accuracy() {
            return (double) correct / seen;
        }
    }
}
