package org.gramian.linear;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/**
 * Solution of a linear solver: scores {@code z = v·Wᵀ + b}.
 *
 * @param weight W {@code [k, d]}, float32, on the device of the rows; belongs to the scope that was open
 * @param bias b {@code [k]}, likewise
 * @param found values found by the solver, such as {@code C}, {@code gap} or {@code shrinkage}
 * @param crossValidation out-of-fold scores; empty if a class has only one group or none were computed
 */
public record LinearModel(
        Tensor weight, Tensor bias, SequencedMap<String, Double> found, Optional<CrossValidation> crossValidation) {
    public LinearModel {
        found = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(found));
    }

    LinearModel(Tensor weight, Tensor bias, SequencedMap<String, Double> found) {
        this(weight, bias, found, Optional.empty());
    }

    LinearModel with(CrossValidation scores) {
        return new LinearModel(weight, bias, found, Optional.of(scores));
    }

    /** Divides weight and bias by the softmax temperature of the cross-validation. */
    LinearModel calibrated() {
        if (crossValidation.isEmpty()) {
            return this;
        }
        CrossValidation scores = crossValidation.get();
        SequencedMap<String, Double> all = new LinkedHashMap<>(found);
        all.putIfAbsent("folds", (double) scores.folds());
        all.put("temperature", scores.temperature());
        all.put("cv_accuracy", scores.accuracy());
        all.put("cv_log_loss", scores.logLoss());
        double factor = 1 / scores.temperature();
        return new LinearModel(Elementwise.mul(weight, factor), Elementwise.mul(bias, factor), all, crossValidation);
    }

    /** Moves the tensors to the enclosing scope. */
    LinearModel keptBy(Scope scope) {
        scope.keep(weight);
        scope.keep(bias);
        return this;
    }
}
