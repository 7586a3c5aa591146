package org.gramian.train.loop;

import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.gramian.train.recipe.ValidationScore;

/**
 * How far training has come: with the recipe and all parameters, enough to go on as if there had been no break.
 *
 * @param stage 1 or 2
 * @param epoch epochs of the stage that are over
 * @param step steps of the present epoch that were taken
 * @param sums of the present epoch
 * @param past of the stage, one for each epoch that is over
 * @param initial of the model that the stage began with
 * @param kept the epoch whose parameters are kept so far, from 0 on; -1 for those the stage began with
 * @param scale factor on the classifier's rate, found when the stage began
 * @param found learning rate that a {@link LearningRateFinder} found when the stage began; nothing before it, or where it is given
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
     * An epoch that is over.
     *
     * @param rate learning rate at its last step
     * @param loss mean training loss
     * @param accuracy on the training crops
     * @param judgement of the model after it
     */
    record EpochRecord(double rate, double loss, double accuracy, ValidationScore judgement) {}

    static TrainingProgress startOf(int stage, ValidationScore initial, double scale) {
        return new TrainingProgress(stage, 0, 0, EpochSums.NONE, List.of(), initial, -1, scale, OptionalDouble.empty());
    }

    TrainingProgress stepped(EpochSums after, int steps) {
        return new TrainingProgress(stage, epoch, step + steps, after, past, initial, kept, scale, found);
    }

    /** At the same place, with the learning rate of the stage. */
    TrainingProgress withRate(double rate) {
        return new TrainingProgress(stage, epoch, step, sums, past, initial, kept, scale, OptionalDouble.of(rate));
    }

    /** After the last step of an epoch. */
    TrainingProgress epochDone(EpochRecord record, boolean best) {
        List<EpochRecord> longer =
                Stream.concat(past.stream(), Stream.of(record)).toList();
        return new TrainingProgress(
                stage, epoch + 1, 0, EpochSums.NONE, longer, initial, best ? epoch : kept, scale, found);
    }

    /** Of the parameters that are kept so far. */
    ValidationScore best() {
        return kept < 0 ? initial : past.get(kept).judgement();
    }

    List<ValidationScore> judgements() {
        return past.stream().map(EpochRecord::judgement).toList();
    }
}
