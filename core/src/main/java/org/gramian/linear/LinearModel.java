package org.gramian.linear;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

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

    /**
     * Returns the model of scores {@code w·(v − m) + b = w·v + (b − w·m)}, which a solver found for centred rows. The bias is computed in
     * float64: its two parts may be large and nearly equal.
     */
    static LinearModel around(Tensor centre, Tensor weight, double[] bias, SequencedMap<String, Double> found) {
        double[] moved =
                weight.to(DType.F64).matmul(centre.to(DType.F64).transpose()).toDoubles();
        Arrays.setAll(moved, label -> bias[label] - moved[label]);
        Tensor offset = Tensors.of(moved, Shape.of(moved.length), DType.F32).to(weight.device());
        return new LinearModel(weight, offset, found, Optional.empty());
    }

    LinearModel with(CrossValidation scores) {
        return new LinearModel(weight, bias, found, Optional.of(scores));
    }

    /** Calibrates the scores by the temperature and the class scales of the cross-validation. */
    LinearModel calibrated(SolverListener watch) {
        if (crossValidation.isEmpty()) {
            return this;
        }
        CrossValidation scores = crossValidation.get().scaled(watch);
        SequencedMap<String, Double> all = new LinkedHashMap<>(found);
        all.putIfAbsent("folds", (double) scores.folds());
        all.put("temperature", scores.temperature());
        scores.scaling().ifPresent(scaling -> {
            all.put("least_scale", Arrays.stream(scaling.scale()).min().orElseThrow());
            all.put("largest_scale", Arrays.stream(scaling.scale()).max().orElseThrow());
        });
        all.put("cv_accuracy", scores.accuracy());
        all.put("cv_log_loss", scores.logLoss());
        double factor = 1 / scores.temperature();
        LinearModel divided = new LinearModel(weight.mul(factor), bias.mul(factor), all, Optional.of(scores));
        return scores.scaling().map(scaling -> scaling.apply(divided)).orElse(divided);
    }

    LinearModel keptBy(Scope scope) {
        scope.keep(weight);
        scope.keep(bias);
        return this;
    }
}
