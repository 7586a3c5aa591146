package org.gramian.train.recipe;

import java.util.List;

/**
 * Fall of the loss in the last epochs of a stage: of the validation set, or of the training set without one.
 *
 * <p>It is relevant if the lowest loss of the last {@value #EPOCHS} epochs is more than 1 % and more than {@value #LEAST_FALL} below
 * the lowest loss before them. One epoch alone would be noise; a loss near 0 falls by percents without any change of predictions.
 *
 * @param before lowest loss before the last epochs
 * @param after lowest loss in the last epochs
 */
public record Improvement(double before, double after) {
    /** The last epochs that are compared with those before. */
    public static final int EPOCHS = 2;

    private static final double LEAST_SHARE = 0.01;
    private static final double LEAST_FALL = 0.002;

    /**
     * Compares the last epochs with those before; of two epochs the second with the first.
     *
     * @param past validation score of each completed epoch of the stage; fewer than two show no improvement
     */
    public static Improvement of(List<ValidationScore> past) {
        if (past.size() < 2) {
            return new Improvement(0, 0);
        }
        int last = past.size() - Math.min(EPOCHS, past.size() - 1);
        return new Improvement(lowest(past.subList(0, last)), lowest(past.subList(last, past.size())));
    }

    private static double lowest(List<ValidationScore> some) {
        return some.stream().mapToDouble(ValidationScore::loss).min().orElse(0);
    }

    /** Returns the fall as a share of the loss before; 0 where it did not fall. */
    public double share() {
        return after < before ? 1 - after / before : 0;
    }

    /** Whether more epochs are likely to pay. */
    public boolean isRelevant() {
        return share() > LEAST_SHARE && before - after > LEAST_FALL;
    }
}
