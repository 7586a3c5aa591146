package org.gramian.train.loop;

import java.util.function.BiFunction;
import java.util.function.Function;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/**
 * Inference with a head on features: scores or descriptors of some rows, without gradients.
 *
 * @param model with the head
 * @param rows returns the features {@code [n, c, h, w]} at some places, float32 on the model's device
 */
record HeadInference(Model model, Function<int[], Tensor> rows) {
    /** Computes scores {@code [n, k]} and returns the result of {@code use}, after which they are freed. */
    <T> T scores(int[] places, Function<Tensor, T> use) {
        return run(places, (features, head) -> model.head().apply(features, head, Head.Mode.PREDICTING), use);
    }

    /** Computes descriptors {@code [n, d]} and returns the result of {@code use}, after which they are freed. */
    <T> T descriptors(int[] places, Function<Tensor, T> use) {
        return run(places, model.head()::describe, use);
    }

    private <T> T run(int[] places, BiFunction<Var, Bindings, Var> step, Function<Tensor, T> use) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Bindings head = Bindings.of(model.headParameters().variables(tape));
            return use.apply(step.apply(tape.constant(rows.apply(places)), head).value());
        }
    }
}
