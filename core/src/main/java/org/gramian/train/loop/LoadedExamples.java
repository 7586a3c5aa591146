package org.gramian.train.loop;

import org.gramian.tensor.Device;
import org.gramian.train.recipe.Recipe;

/** Training images that host threads render ahead in batches; frees decoded images when closed. */
interface LoadedExamples extends Examples, AutoCloseable {
    /**
     * Opens the training images: decoded once if the recipe augments them, else in every epoch.
     *
     * @throws InterruptedTrainingException if training is interrupted while they are decoded
     */
    static LoadedExamples open(TrainingData data, Recipe recipe, TrainingContext<TrainEvent> context) {
        return recipe.augmenting().policy().isNone()
                ? new ImageExamples(
                        data.parts().training(),
                        data.rendering(data.trainingCrops()),
                        context.threads(),
                        context.device())
                : StoredExamples.open(data, recipe, context);
    }

    @Override
    default void close() {}

    /** Returns the side of a crop in pixels. */
    int size();

    /** Returns the device of the batches. */
    Device device();

    /** Goes through examples as {@link #pass} does, with batches in host memory. */
    LoadedPass loaded(int[] order, int batch, long epoch);

    @Override
    default Pass pass(int[] order, int batch, long epoch) {
        return loaded(order, batch, epoch);
    }
}
