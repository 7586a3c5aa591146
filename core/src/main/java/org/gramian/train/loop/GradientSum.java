package org.gramian.train.loop;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Gradient accumulation: the gradients of one step, added up over its batches. Owns one sum for each parameter, outside every
 * scope: any number of batches takes the memory of one.
 */
final class GradientSum implements AutoCloseable {
    private final Map<Parameter, Tensor> sums = new LinkedHashMap<>();

    /** Adds the gradients that reached the parameters of a batch. */
    void add(Trainable.Loss loss, Gradients gradients) {
        loss.variables().forEach((parameter, variable) -> {
            if (gradients.has(variable)) {
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
        });
    }

    Map<Parameter, Tensor> sums() {
        return sums;
    }

    /** Returns the first parameter whose gradient has a NaN or infinite element; empty if there is none. */
    Optional<Parameter> nonFinite() {
        // One finite total proves it with one transfer from a GPU. Large elements may overflow it: then each sum is
        // checked.
        return Double.isFinite(total())
                ? Optional.empty()
                : sums.entrySet().stream()
                        .filter(sum -> !sum.getValue().allFinite())
                        .map(Map.Entry::getKey)
                        .findFirst();
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
