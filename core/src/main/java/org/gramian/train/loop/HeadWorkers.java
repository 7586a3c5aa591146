package org.gramian.train.loop;

import org.gramian.tensor.Tensor;
import org.gramian.train.recipe.ValidationScore;

/**
 * Workers that hold the features of training crops and compute gradients of the head on them: the machines of a cluster.
 *
 * <p>Place {@code i} is crop {@code i mod n} of image {@code i / n}, where each image has n crops, the first of which is the
 * first of its test crops.
 */
public interface HeadWorkers {
    /** Returns the number of crops of all training images. */
    int count();

    /** Returns the number of crops of each image. */
    int crops();

    /** Returns features {@code [n, c, h, w]} of a few crops, float32 on the model's device, in the current scope. */
    Tensor rows(int[] places);

    /**
     * Returns the sum of all parts of a step, by the current parameters of the head.
     *
     * @param dropout of their descriptors
     */
    StepPart step(int[] places, Dropout dropout);

    /** Whether there is a validation set. */
    boolean hasValidation();

    /** Computes the score of the current model on the validation set. */
    ValidationScore validate();
}
