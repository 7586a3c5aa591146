package org.gramian.train.loop;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Engine;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.train.feature.FeatureTable;

/** Scores of images by the current model, each the mean probability over its crops. */
@FunctionalInterface
public interface ImageScores {
    /** Computes the scores of all images in their order. */
    List<Logits> compute();

    /** Returns scores from a table of features, for stage 1. */
    static ImageScores ofFeatures(Model model, FeatureTable table, int batch) {
        return () -> {
            HeadInference run = new HeadInference(model, table::rows);
            List<float[]> rows = new ArrayList<>();
            for (int start = 0; start < table.count(); start += batch) {
                int[] indices = IntStream.range(start, Math.min(table.count(), start + batch))
                        .toArray();
                rows.addAll(Arrays.asList(run.scores(indices, Engine::toRows)));
            }
            int crops = table.crops();
            return IntStream.range(0, table.count() / crops)
                    .mapToObj(i -> Logits.ofCrops(
                            rows.subList(i * crops, (i + 1) * crops).toArray(float[][]::new)))
                    .toList();
        };
    }

    /** Returns scores from images, through the whole model. */
    static ImageScores ofImages(
            Model model, TrainingData data, int threads, List<Sample> samples, LongConsumer progress) {
        return () -> {
            List<Logits> all = new ArrayList<>();
            data.compute(model, samples, Engine.Rows.SCORES, threads, (computed, index) -> {
                all.add(computed.logits());
                progress.accept(index + 1L);
            });
            return all;
        };
    }
}
