package org.gramian.train.loop;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.loop.Steps.StepResult;
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
 */
public record StageProgress(
        int stage,
        int epoch,
        int step,
        EpochSums sums,
        List<EpochRecord> past,
        ValidationScore initial,
        int kept,
        double scale) {
    public StageProgress {
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
    public record EpochRecord(
            @JsonProperty("rate") double learningRate,
            double loss,
            double accuracy,
            @JsonProperty("judgement") ValidationScore validation) {}

    /** Returns the start of a stage. */
    public static StageProgress startOf(int stage, ValidationScore initial, double scale) {
        return new StageProgress(stage, 0, 0, EpochSums.NONE, List.of(), initial, -1, scale);
    }

    /** Returns the progress after more steps of the epoch. */
    StageProgress stepped(StepResult result) {
        return new StageProgress(stage, epoch, step + result.steps(), result.sums(), past, initial, kept, scale);
    }

    /** Returns the progress after the validation of an epoch. */
    StageProgress epochDone(EpochDone done) {
        EpochRecord record = new EpochRecord(
                done.learningRate(),
                done.loss(),
                done.accuracy(),
                new ValidationScore(done.validationError(), done.validationLoss()));
        List<EpochRecord> longer =
                Stream.concat(past.stream(), Stream.of(record)).toList();
        return new StageProgress(
                stage, epoch + 1, 0, EpochSums.NONE, longer, initial, done.best() ? epoch : kept, scale);
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
    public record EpochSums(
            double loss, @JsonProperty("right") int correct, int seen) {
        static final EpochSums NONE = new EpochSums(0, 0, 0);

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
