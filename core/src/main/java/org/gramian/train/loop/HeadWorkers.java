package org.gramian.train.loop;

import org.gramian.tensor.Tensor;
import org.gramian.train.recipe.ValidationScore;

/**
 * Those who hold the features of training crops and compute with the head on them, wherever they are: the machines of a cluster.
 *
 * <p>Place {@code i} is crop {@code i mod n} of image {@code i / n}, where each image has n crops, the first of which is the
 * first of its test crops.
 */
public interface HeadWorkers {
    /** Crops of all training images. */
    int count();

    /** Crops of each image. */
    int crops();

    /** Features {@code [n, c, h, w]} of a few crops, in single precision on the model's device; they belong to the current scope. */
    Tensor rows(int[] places);

    /**
     * Returns the sum of all parts of a step over these crops, by the head's parameters as they are now.
     *
     * @param dropout of their descriptors
     */
    StepPart step(int[] places, Dropout dropout);

    /** Whether images are held back to judge epochs by. */
    boolean judges();

    /** How good the model is by now on held-back images, where there are any. */
    ValidationScore judge();
}
