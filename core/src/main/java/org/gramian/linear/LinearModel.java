package org.gramian.linear;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/**
 * What a solver found: {@code z = v·Wᵀ + b}.
 *
 * @param weight {@code [k, d]} in single precision, on the device of the rows; belongs to the scope that was open
 * @param bias {@code [k]}, the same
 * @param found numbers that were found on the way, by name, as {@code C}, {@code gap} or {@code shrinkage}
 */
public record LinearModel(Tensor weight, Tensor bias, SequencedMap<String, Double> found) {
    public LinearModel {
        found = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(found));
    }

    /** Hands the tensors to the scope around this one. */
    LinearModel keptBy(Scope scope) {
        scope.keep(weight);
        scope.keep(bias);
        return this;
    }
}
