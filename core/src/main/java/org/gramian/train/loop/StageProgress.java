package org.gramian.train.loop;

import java.util.List;
import java.util.stream.Stream;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.loop.Steps.StepResult;
import org.gramian.train.recipe.ValidationScore;

/**
 * Progress of a stage: with the recipe and all parameters it determines the rest of the training.
 *
 * @param epoch completed epochs of the stage
 * @param step completed steps of the current epoch
 * @param limit epochs that a rival leaves time for, set after the first one; 0 for no limit
 * @param kept epoch of the best parameters so far, from 0; -1 for the initial parameters
 * @param scale factor on the learning rate of the classifier, computed at the start of the stage
 */
public record StageProgress(
        int stage,
        int epoch,
        int step,
        EpochSums sums,
        List<EpochDone> past,
        ValidationScore initial,
        int limit,
        int kept,
        double scale) {
    public StageProgress {
        past = List.copyOf(past);
        if (stage < 1 || stage > 2 || step < 0 || limit < 0 || epoch != past.size() || kept < -1 || kept >= epoch) {
            throw new IllegalArgumentException("stage " + stage + ", epoch " + epoch + ", step " + step + " after "
                    + past.size() + " epochs with best epoch " + kept + " is not a valid training position");
        }
    }

    public static StageProgress startOf(int stage, ValidationScore initial, double scale) {
        return new StageProgress(stage, 0, 0, EpochSums.NONE, List.of(), initial, 0, -1, scale);
    }

    StageProgress stepped(StepResult result) {
        return new StageProgress(stage, epoch, step + result.steps(), result.sums(), past, initial, limit, kept, scale);
    }

    StageProgress epochDone(EpochDone done) {
        List<EpochDone> longer = Stream.concat(past.stream(), Stream.of(done)).toList();
        return new StageProgress(
                stage, epoch + 1, 0, EpochSums.NONE, longer, initial, limit, done.best() ? epoch : kept, scale);
    }

    StageProgress limitedTo(int epochs) {
        return new StageProgress(stage, epoch, step, sums, past, initial, epochs, kept, scale);
    }

    ValidationScore best() {
        return kept < 0 ? initial : validations().get(kept);
    }

    List<ValidationScore> validations() {
        return past.stream()
                .map(done -> new ValidationScore(done.validationError(), done.validationLoss()))
                .toList();
    }

    /** Training loss and accuracy of the current epoch, as sums. */
    public record EpochSums(double loss, int correct, int seen) {
        static final EpochSums NONE = new EpochSums(0, 0, 0);

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
