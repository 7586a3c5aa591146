package org.gramian.train.loop;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.basis.Subsample;
import org.gramian.model.Engine;
import org.gramian.model.Head;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.train.feature.FeatureTable;

/** Inference with a head on features: scores or descriptors of some rows, without gradients. */
record HeadInference(Model model, FeatureTable table) {
    private static final int SAMPLE = 64;

    /** Computes the scores of all images in batches, each the mean probability over its crops. */
    List<Logits> logits(int batch) {
        List<float[]> rows = new ArrayList<>();
        for (int start = 0; start < table.count(); start += batch) {
            int[] indices = IntStream.range(start, Math.min(table.count(), start + batch))
                    .toArray();
            rows.addAll(Arrays.asList(run(
                    indices, (features, head) -> model.scores(features, head, Head.Mode.PREDICTING), Engine::toRows)));
        }
        int crops = table.crops();
        return IntStream.range(0, table.count() / crops)
                .mapToObj(i ->
                        Logits.ofCrops(rows.subList(i * crops, (i + 1) * crops).toArray(float[][]::new)))
                .toList();
    }

    /** Computes descriptors {@code [n, d]} and returns the result of {@code use}, after which they are freed. */
    <T> T descriptors(int[] indices, Function<Tensor, T> use) {
        return run(indices, model::describe, use);
    }

    /** Computes descriptors as in a training step, with channels that stages of the pooling drop. */
    private <T> T trainedDescriptors(int[] indices, Function<Tensor, T> use) {
        return run(
                indices,
                (features, head) -> {
                    Map<String, Var> bound =
                            new HashMap<>(model.headParameters().variables(features.tape()));
                    bound.putAll(TrainableModel.randomInputs(model, features, Dropout.NONE.of(indices)));
                    return model.describe(features, Bindings.of(bound));
                },
                use);
    }

    private <T> T run(int[] indices, BiFunction<Var, Bindings, Var> step, Function<Tensor, T> use) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Bindings head = Bindings.of(model.headParameters().variables(tape));
            return use.apply(
                    step.apply(tape.constant(table.rows(indices)), head).value());
        }
    }

    /**
     * Returns the classifier's learning rate at which these descriptors v act like unit vectors at a learning rate of 1; 1 if they are
     * all 0.
     *
     * <p>A step with learning rate λ on one example changes the score of a linear classifier by {@code λ·(p − y)·(‖v‖² + 1)}. Classes
     * differ in the position of descriptors about their mean m, hence {@code λ = 1/mean ‖v − m‖²}. Gradient descent with momentum β
     * diverges beyond {@code 2(1 + β)/L} (Polyak 1964), where cross-entropy has {@code L ≤ ‖v‖²/2}: λ is at most {@code 4(1 + β)/mean
     * ‖v‖²}. Poolings that drop channels at random make longer descriptors in training than in prediction, so those of
     * training count: DropCov's covariances grow by 1/(1 − ρ)² for a rate ρ.
     */
    double unitRate(double momentum) {
        int[] indices = Arrays.stream(Subsample.evenIndices(table.count(), SAMPLE))
                .mapToInt(Math::toIntExact)
                .toArray();
        double rate = trainedDescriptors(indices, v -> {
            Tensor mean = v.sum(0).mul(1.0 / indices.length);
            return Math.min(1 / meanSquare(v.sub(mean)), 4 * (1 + momentum) / meanSquare(v));
        });
        return rate > 0 && Double.isFinite(rate) ? rate : 1;
    }

    private static double meanSquare(Tensor rows) {
        return rows.mul(rows).sum().item() / rows.shape().at(0);
    }
}
