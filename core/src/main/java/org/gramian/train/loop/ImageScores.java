package org.gramian.train.loop;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.InferencePipeline;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.tensor.Tensor;
import org.gramian.train.feature.FeatureTable;

/** Scores of images, each the mean probability over its crops, by the model as it is when asked. */
@FunctionalInterface
public interface ImageScores {
    /** One for each image, in their order. */
    List<Logits> compute();

    /**
     * Features that are there already, wherever: row {@code i} is crop {@code i mod crops} of image {@code i / crops}.
     *
     * @param count of all rows
     * @param crops of each image
     * @param at gives the rows {@code [n, c, h, w]} at some places, in single precision on the model's device
     */
    record Rows(int count, int crops, Function<int[], Tensor> at) {}

    /** From features that are there already: what stage 1 needs. */
    static ImageScores ofFeatures(Model model, FeatureTable table, int batch) {
        return ofRows(model, new Rows(table.count(), table.crops(), table::rows), batch);
    }

    /** From features that are there already, wherever. */
    static ImageScores ofRows(Model model, Rows features, int batch) {
        return () -> {
            HeadInference run = new HeadInference(model, features.at);
            List<float[]> rows = new ArrayList<>();
            for (int start = 0; start < features.count; start += batch) {
                int[] places = IntStream.range(start, Math.min(features.count, start + batch))
                        .toArray();
                rows.addAll(Arrays.asList(run.scores(places, Engine::toRows)));
            }
            return IntStream.range(0, features.count / features.crops)
                    .mapToObj(i -> Logits.ofCrops(rows.subList(i * features.crops, (i + 1) * features.crops)
                            .toArray(float[][]::new)))
                    .toList();
        };
    }

    /** From the images themselves, through the whole model. */
    static ImageScores ofImages(InferencePipeline pipeline, List<Sample> samples, LongConsumer progress) {
        return () -> {
            List<Logits> all = new ArrayList<>();
            pipeline.run(samples, Engine.Rows.SCORES, (index, result) -> {
                switch (result) {
                    case ImageResult.Computed computed -> all.add(computed.logits());
                    case ImageResult.Failed failed ->
                        throw MissingImage.of(samples.get(index), failed.unreadable());
                }
                progress.accept(index + 1L);
            });
            return all;
        };
    }
}
