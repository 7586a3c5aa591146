package org.gramian.train.loop;

import org.gramian.tensor.Device;
import org.gramian.train.recipe.Recipe;

/** Images to train on that the host renders ahead, batch by batch; frees the images that it keeps when closed. */
interface LoadedExamples extends Examples, AutoCloseable {
    /**
     * Opens the training images: decoded once where the recipe augments them, else decoded anew in every epoch.
     *
     * @throws InterruptedTrainingException if training is interrupted while they are decoded
     */
    static LoadedExamples open(TrainingData material, Recipe recipe, TrainingSession session, Device device) {
        return recipe.augmenting().policy().isNone()
                ? new ImageExamples(
                        material.parts().training(),
                        material.rendering(material.trainingCrops()),
                        material.threads(),
                        device)
                : StoredExamples.open(material, recipe, session, device);
    }

    @Override
    default void close() {}

    /** Columns and rows of a crop. */
    int size();

    /** Where batches are used. */
    Device device();

    /** As {@link #pass}, by batches in the host's memory. */
    LoadedPass loaded(int[] order, int batch, long epoch);

    @Override
    default Pass pass(int[] order, int batch, long epoch) {
        return loaded(order, batch, epoch);
    }
}
