package org.gramian.train.loop;

import java.time.Duration;
import java.util.List;
import org.gramian.train.recipe.ValidationScore;

/**
 * Solved head that a learned one competes with: learning ends as soon as it cannot win.
 *
 * @param error error rate of the solved head on the validation set
 * @param images number of validation images
 * @param limit time for learning
 */
public record Rival(double error, int images, Duration limit) {
    private static final int EPOCHS = 3;

    /**
     * Returns whether a head would stay behind by more than one standard error even if it gained as much in each epoch that is left as in
     * the mean of the last {@value #EPOCHS}.
     */
    boolean isOutOfReach(List<ValidationScore> past, int left) {
        if (past.size() <= EPOCHS) {
            return false;
        }
        double best = lowest(past);
        double gain = (lowest(past.subList(0, past.size() - EPOCHS)) - best) / EPOCHS;
        return best - gain * left - standardError(best) > error;
    }

    /** Returns the number of epochs that fit into the limit, at least 1. */
    int epochs(Duration first) {
        return Math.clamp(limit.dividedBy(first.plusNanos(1)), 1, Integer.MAX_VALUE);
    }

    /** Returns whether a head is behind by more than one standard error. */
    boolean isAheadOf(ValidationScore score) {
        return score.error() - standardError(score.error()) > error;
    }

    private double standardError(double rate) {
        return Math.sqrt(rate * (1 - rate) / images);
    }

    private static double lowest(List<ValidationScore> scores) {
        return scores.stream().mapToDouble(ValidationScore::error).min().orElseThrow();
    }
}
