package org.gramian.train.loop;

import org.gramian.train.recipe.StageRecipe;

/**
 * Factors on the learning rates of a head, which differ from 1 for long descriptors.
 *
 * <p>That of the classifier follows from their length, see {@link DescriptorLength}. For descriptors s times as long, a classifier
 * 1/s times as large gives the same scores, so that gradients of the layers before it do not depend on s. But these layers need a
 * lower rate than a pooling that ends in l2, which bounds the scores. {@value #BEFORE_LONG} was best for iSQRT-COV on validation
 * images (docs/adr/0011), against the classifier's own rate and 1.
 *
 * @param pooling factor of the layers before the classifier
 * @param classifier factor of the classifier
 */
record HeadRates(double pooling, double classifier) {
    private static final double BEFORE_LONG = 0.01;

    /** Returns the factors of a stage. */
    static HeadRates of(StageRecipe stage, TrainingProgress progress) {
        return new HeadRates(stage.perLength() ? BEFORE_LONG : 1, progress.scale());
    }
}
