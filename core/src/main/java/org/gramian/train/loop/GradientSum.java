package org.gramian.train.loop;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Var;
import org.gramian.model.Engine;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Gradient accumulation: the gradients of one step, added up over its batches. Owns one sum for each parameter, outside every
 * scope: any number of batches takes the memory of one.
 */
final class GradientSum implements AutoCloseable {
    /**
     * Outcome of a batch.
     *
     * @param loss mean over the batch
     * @param correct crops whose highest score is that of their label
     * @param nonFinite why the batch cannot be used; empty if it can
     */
    record Batch(double loss, int correct, Optional<NonFinite.InStep> nonFinite) {}

    private final Map<Parameter, Tensor> sums = new HashMap<>();

    /**
     * Adds the gradients of a batch.
     *
     * @param targets {@code [n, k]}
     * @param share of the batch in the step
     * @param dropout of its descriptors {@code [n, d]}
     */
    Batch add(TrainableModel model, Examples.Minibatch batch, Tensor targets, double share, Dropout.OfBatch dropout) {
        try (BatchGradient gradient = new BatchGradient(model, batch.input(), targets, dropout)) {
            double loss = gradient.loss().item();
            if (!Double.isFinite(loss)) {
                NonFinite origin = model.origin(batch.input(), targets);
                return new Batch(loss, 0, Optional.of(new NonFinite.InStep(false, origin)));
            }
            int correct = correct(gradient.scores(), batch.labels());
            gradient.backward(
                    share,
                    (reached, gradients) ->
                            reached.forEach((parameter, variable) -> add(parameter, variable, gradients)));
            // Checked while the parameters are still those that the gradients belong to.
            Optional<NonFinite.InStep> nonFinite = allFinite()
                    ? Optional.empty()
                    : Optional.of(new NonFinite.InStep(true, model.origin(batch.input(), targets)));
            return new Batch(loss, correct, nonFinite);
        }
    }

    private static int correct(Tensor scores, int[] labels) {
        float[][] rows = Engine.toRows(scores);
        int correct = 0;
        for (int i = 0; i < labels.length; i++) {
            int top = 0;
            for (int k = 1; k < rows[i].length; k++) {
                top = rows[i][k] > rows[i][top] ? k : top;
            }
            correct += top == labels[i] ? 1 : 0;
        }
        return correct;
    }

    private void add(Parameter parameter, Var variable, Gradients gradients) {
        Tensor former = sums.get(parameter);
        if (former == null) {
            sums.put(parameter, gradients.release(variable));
            return;
        }
        try (Scope scope = Scope.open()) {
            Tensor sum = former.add(gradients.of(variable));
            scope.release(sum);
            sums.put(parameter, sum);
        }
        former.close();
    }

    Map<Parameter, Tensor> sums() {
        return sums;
    }

    /** Whether no element is NaN or infinite. */
    boolean allFinite() {
        // One finite total proves it with one transfer from a GPU. Large elements may overflow it: then each sum is
        // checked.
        return Double.isFinite(total()) || sums.values().stream().allMatch(Tensor::allFinite);
    }

    private double total() {
        try (Scope _ = Scope.open()) {
            @Nullable Tensor total = null;
            for (Tensor sum : sums.values()) {
                Tensor one = sum.sum().to(DType.F32);
                total = total == null ? one : total.add(one);
            }
            return total == null ? 0 : total.item();
        }
    }

    @Override
    public void close() {
        sums.values().forEach(Tensor::close);
        sums.clear();
    }
}
