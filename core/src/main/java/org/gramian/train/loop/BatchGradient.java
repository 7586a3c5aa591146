package org.gramian.train.loop;

import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.model.Engine;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * What is learned from one batch: its part of a step's gradient, which is that of {@code share·ℓ} with the batch's mean
 * cross-entropy ℓ.
 *
 * @param trainee what learns
 */
record BatchGradient(TrainableModel trainee) {
    /**
     * What came of a batch.
     *
     * @param loss mean over the batch
     * @param right crops that were right
     * @param wrong why it cannot be used; nothing where it can
     */
    record Learned(double loss, int right, Optional<NonFiniteStep> wrong) {}

    /**
     * Adds the gradients of a batch to those of others.
     *
     * @param targets {@code [n, k]}
     * @param share of the batch in the step
     * @param dropout of its descriptors
     */
    Learned learn(Examples.Minibatch batch, Tensor targets, double share, GradientSum sum, UnaryOperator<Var> dropout) {
        try (Tape tape = Tape.recording()) {
            TrainableModel.Forward forward = trainee.forward(tape, batch.input(), dropout);
            Var loss = Classification.crossEntropy(forward.scores(), targets);
            double value = loss.value().item();
            if (!Double.isFinite(value)) {
                return new Learned(
                        value, 0, Optional.of(new NonFiniteStep(false, trainee.origin(batch.input(), targets))));
            }
            int right = right(forward.scores().value(), batch.labels());
            Tensor upstream = Tensors.full(
                    share, loss.shape(), loss.value().type(), loss.value().device());
            try (Gradients gradients = tape.backward(loss, upstream)) {
                trainee.groups()
                        .forEach((part, group) -> sum.add(
                                group,
                                Objects.requireNonNull(forward.variables().get(part)),
                                gradients));
            }
            // Found out while the parameters are still those that the gradients belong to.
            Optional<NonFiniteStep> wrong = sum.allFinite()
                    ? Optional.empty()
                    : Optional.of(new NonFiniteStep(true, trainee.origin(batch.input(), targets)));
            return new Learned(value, right, wrong);
        }
    }

    private static int right(Tensor scores, int[] labels) {
        float[][] rows = Engine.toRows(scores);
        int right = 0;
        for (int i = 0; i < labels.length; i++) {
            int top = 0;
            for (int k = 1; k < rows[i].length; k++) {
                top = rows[i][k] > rows[i][top] ? k : top;
            }
            right += top == labels[i] ? 1 : 0;
        }
        return right;
    }
}
