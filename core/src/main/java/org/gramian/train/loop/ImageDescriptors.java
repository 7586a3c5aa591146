package org.gramian.train.loop;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Engine;
import org.gramian.model.Model;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.recipe.Recipe;

/**
 * Computes descriptors of images with a trained model: one for each test crop.
 *
 * <p>Without fine-tuning they come from the features of stage 1, most of which are in the cache: the test crops of every plan are
 * among its training crops. Else the whole model computes them. The recipe alone decides, so that a run gives the same bits with
 * and without a cache.
 *
 * @param model after training
 * @param recipe of its training
 * @param data crops and preprocessing
 * @param context receives progress and may cancel
 */
public record ImageDescriptors(Model model, Recipe recipe, TrainingData data, TrainingContext<TrainEvent> context) {
    private static final String TASK = "descriptors of images";

    /** Receives the descriptors of images in their order. */
    @FunctionalInterface
    public interface Sink {
        /**
         * Receives the descriptors of one image.
         *
         * @param sample index of the image
         * @param crops {@code [crops][d]}
         */
        void accept(int sample, float[][] crops);
    }

    /**
     * Computes the descriptors of images.
     *
     * @throws IOException if an image cannot be read any more
     * @throws InterruptedTrainingException if the run is cancelled
     */
    public void run(List<Sample> samples, Sink sink) throws IOException {
        if (recipe.stage2().epochs() > 0) {
            fromImages(samples, sink);
        } else {
            fromFeatures(samples, sink);
        }
    }

    private void fromFeatures(List<Sample> samples, Sink sink) throws IOException {
        try (FeatureTable table =
                data.features(TASK, samples, data.testCrops(), context.threads(), context::measuring)) {
            int crops = table.crops();
            for (int i = 0; i < samples.size(); i++) {
                int[] places = IntStream.range(i * crops, (i + 1) * crops).toArray();
                sink.accept(i, new HeadInference(model, table::rows).descriptors(places, Engine::toRows));
                context.measuring(new TrainEvent.Collecting(TASK, i + 1L, samples.size()));
            }
        }
    }

    private void fromImages(List<Sample> samples, Sink sink) {
        data.compute(model, samples, Engine.Rows.DESCRIPTORS, context.threads(), (computed, index) -> {
            sink.accept(index, computed.of(Engine.Rows.DESCRIPTORS));
            context.measuring(new TrainEvent.Collecting(TASK, index + 1L, samples.size()));
        });
    }
}
