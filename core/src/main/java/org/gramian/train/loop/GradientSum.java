package org.gramian.train.loop;

import java.util.HashMap;
import java.util.Map;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.ParameterGroup;
import org.jspecify.annotations.Nullable;

/**
 * Gradients of one step, added up over the batches that make it. It owns one sum for each parameter, outside every scope:
 * however many batches there are, it takes the memory of one.
 */
final class GradientSum implements AutoCloseable {
    private final Map<Parameter, Tensor> sums = new HashMap<>();

    /** Adds what reached the parameters of a group; takes over what it keeps of it. */
    void add(ParameterGroup group, Map<String, Var> variables, Gradients gradients) {
        for (Parameter parameter : group.parameters().all()) {
            Var variable = variables.get(parameter.name());
            if (variable != null && gradients.has(variable)) {
                add(parameter, variable, gradients);
            }
        }
    }

    private void add(Parameter parameter, Var variable, Gradients gradients) {
        Tensor former = sums.get(parameter);
        if (former == null) {
            sums.put(parameter, gradients.release(variable));
            return;
        }
        try (Scope scope = Scope.open()) {
            Tensor sum = Elementwise.add(former, gradients.of(variable));
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
        // What is not finite makes a sum that is not: one number tells, for which a GPU is waited for once. But large
        // elements may do that too, so that only each by itself proves it.
        return Double.isFinite(total()) || sums.values().stream().allMatch(Reductions::allFinite);
    }

    private double total() {
        try (Scope _ = Scope.open()) {
            @Nullable Tensor total = null;
            for (Tensor sum : sums.values()) {
                Tensor one = Tensors.to(Reductions.sum(sum), DType.F32);
                total = total == null ? one : Elementwise.add(total, one);
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
