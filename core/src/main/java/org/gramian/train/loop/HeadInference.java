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
 * A head at work on features that are there already, without gradients: its scores or its descriptors of some rows.
 *
 * @param model whose head it is
 * @param rows gives the features {@code [n, c, h, w]} at some places, in single precision on the model's device
 */
record HeadInference(Model model, Function<int[], Tensor> rows) {
    /** What is made of the scores {@code [n, k]}, which are gone after it. */
    <T> T scores(int[] places, Function<Tensor, T> use) {
        return run(places, (features, head) -> model.head().apply(features, head, Head.Mode.PREDICTING), use);
    }

    /** What is made of the descriptors {@code [n, d]}, which are gone after it. */
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
