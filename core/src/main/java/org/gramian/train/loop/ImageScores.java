package org.gramian.train.loop;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Engine;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.tensor.Tensor;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.recipe.ValidationScore;

/** Scores of images by the current model, each the mean probability over its crops. */
@FunctionalInterface
public interface ImageScores {
    /** Computes the scores of all images in their order. */
    List<Logits> compute();

    /**
     * Features of images: row {@code i} is crop {@code i mod crops} of image {@code i / crops}.
     *
     * @param count rows
     * @param crops of each image
     * @param at returns the rows {@code [n, c, h, w]} at some indices, float32 on the model's device
     */
    record Rows(int count, int crops, Function<int[], Tensor> at) {}

    /** Returns scores from a table of features, for stage 1. */
    static ImageScores ofFeatures(Model model, FeatureTable table, int batch) {
        return ofRows(model, new Rows(table.count(), table.crops(), table::rows), batch);
    }

    /** Returns scores from features. */
    static ImageScores ofRows(Model model, Rows features, int batch) {
        return () -> {
            HeadInference run = new HeadInference(model, features.at);
            List<float[]> rows = new ArrayList<>();
            for (int start = 0; start < features.count; start += batch) {
                int[] indices = IntStream.range(start, Math.min(features.count, start + batch))
                        .toArray();
                rows.addAll(Arrays.asList(run.scores(indices, Engine::toRows)));
            }
            return IntStream.range(0, features.count / features.crops)
                    .mapToObj(i -> Logits.ofCrops(rows.subList(i * features.crops, (i + 1) * features.crops)
                            .toArray(float[][]::new)))
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

    /**
     * Errors and losses of some validation images; counts of several machines can be added.
     *
     * @param count images
     * @param wrong images whose predicted class is not their label
     * @param loss sum of the cross-entropies {@code −log p} of the true class
     */
    record Counts(long count, long wrong, double loss) implements Serializable {
        public static final Counts NONE = new Counts(0, 0, 0);

        /** Returns the counts with one more image. */
        public Counts plus(Logits logits, int label) {
            return new Counts(
                    count + 1, wrong + (logits.top() == label ? 0 : 1), loss - logits.logProbability(label, 1));
        }

        /** Returns the sum of these and other counts. */
        public Counts plus(Counts others) {
            return new Counts(count + others.count, wrong + others.wrong, loss + others.loss);
        }

        /** Returns the means over at least one image. */
        public ValidationScore score() {
            return new ValidationScore((double) wrong / count, loss / count);
        }
    }
}
