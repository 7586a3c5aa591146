package org.gramian.train.loop;

import org.gramian.train.recipe.StageRecipe;

/**
 * Factors on the learning rate of a head, which are not 1 where its descriptors are long.
 *
 * <p>The classifier's follows from their length, see {@link DescriptorLength}. Of descriptors that are s times as long, a
 * classifier 1/s times as large makes the same scores, so that gradients of the layers before it do not depend on s; but these
 * do not bear the rate of a chain that ends in l2, which takes out what would make scores grow. {@value #BEFORE_LONG} is what
 * iSQRT-COV did best with on held-back images (docs/adr/0011), against the classifier's own rate and 1.
 *
 * @param pooling of the layers before the classifier
 * @param classifier of the classifier
 */
record HeadRates(double pooling, double classifier) {
    private static final double BEFORE_LONG = 0.01;

    /** What a stage and the length of its first descriptors make of it. */
    static HeadRates of(StageRecipe stage, TrainingProgress position) {
        return new HeadRates(stage.perLength() ? BEFORE_LONG : 1, position.scale());
    }
}
