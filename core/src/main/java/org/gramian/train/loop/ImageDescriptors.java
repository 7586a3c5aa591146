package org.gramian.train.loop;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.InferencePipeline;
import org.gramian.model.Model;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.recipe.Recipe;

/**
 * Descriptors of images by a model that was trained: one of each test crop.
 *
 * <p>Where stage 2 moved nothing they come from the features of stage 1, of which a cache has most: those of test images, and
 * of training images too, for the test crops of every plan are among its training crops. Else the whole model computes them.
 * The recipe alone decides which, so that the same run gives the same bits with and without a cache.
 *
 * @param model as training left it
 * @param recipe what it was trained by
 * @param material how images are seen
 * @param session told how far it is; stops it if somebody asks for a break
 */
public record ImageDescriptors(Model model, Recipe recipe, TrainingData material, TrainingSession session) {
    private static final String TASK = "descriptors of images";

    /** Takes the descriptors of images, in their order. */
    @FunctionalInterface
    public interface Sink {
        /**
         * Takes those of one image.
         *
         * @param sample index of the image
         * @param crops a descriptor for each test crop
         */
        void accept(int sample, float[][] crops);
    }

    /**
     * Describes images.
     *
     * @throws IOException if one of them cannot be read any more
     * @throws InterruptedTrainingException if somebody asked for a break
     */
    public void run(List<Sample> samples, Sink sink) throws IOException {
        if (recipe.stage2().epochs() > 0) {
            fromImages(samples, sink);
        } else {
            fromFeatures(samples, sink);
        }
    }

    private void fromFeatures(List<Sample> samples, Sink sink) throws IOException {
        try (FeatureTable table = material.features(TASK, samples, material.testCrops(), session::measuring)) {
            int crops = table.crops();
            for (int i = 0; i < samples.size(); i++) {
                int[] places = IntStream.range(i * crops, (i + 1) * crops).toArray();
                sink.accept(i, new HeadInference(model, table::rows).descriptors(places, Engine::toRows));
                session.measuring(new TrainEvent.Collecting(TASK, i + 1L, samples.size()));
            }
        }
    }

    private void fromImages(List<Sample> samples, Sink sink) {
        Prefetch prefetch = new Prefetch(InferencePipeline.DEFAULT_BATCH, material.threads(), 3);
        InferencePipeline pipeline =
                new InferencePipeline(Engine.of(model), material.rendering(material.testCrops()), prefetch);
        pipeline.run(samples, Engine.Rows.DESCRIPTORS, (index, result) -> {
            switch (result) {
                case ImageResult.Computed computed -> sink.accept(index, computed.of(Engine.Rows.DESCRIPTORS));
                case ImageResult.Failed failed -> throw MissingImage.of(samples.get(index), failed.unreadable());
            }
            session.measuring(new TrainEvent.Collecting(TASK, index + 1L, samples.size()));
        });
    }
}
