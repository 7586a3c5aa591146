package org.gramian.linear;

import java.util.LinkedHashMap;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Regularized linear discriminant analysis: Bayes' rule for Gaussian classes of one covariance,
 *
 * <pre>{@code
 * z_k = v·Σ⁻¹μ_k − ½ μ_k·Σ⁻¹μ_k + log π_k
 * Σ   = (1 − γ) S + γ ν I,   S = (1/n) Σ_i (x_i − μ(y_i))(x_i − μ(y_i))ᵀ,   ν = tr S / d
 * }</pre>
 *
 * <p>with everything taken around the mean of all rows, which changes no difference between classes, and {@code π_k}
 * proportional to the weight of the rows of class k: their part of the rows, or the same for all where classes are balanced.
 * Without a γ it is {@link Shrinkage}'s (Ledoit and Wolf, 2004). With {@code γ = 1} and equal π it is {@link NearestMean}.
 * Where every row is the mean of its class, S is 0 and ν counts as 1.
 *
 * <p>On vectors of matrix logarithms it is LDA in the tangent space (Barachant et al., IEEE TBME 59, 2012; Friedman:
 * Regularized Discriminant Analysis, JASA 84, 1989).
 *
 * <p>Where rows are longer than many, Σ is never built: with the centred rows X {@code [n, d]}, by Woodbury's identity
 * {@code Σ⁻¹M = (M − Xᵀ(XXᵀ + nγν/(1−γ) I)⁻¹XM)/(γν)}.
 *
 * @param shrinkage γ, from 0 to 1; chosen where it is not given
 */
public record Lda(OptionalDouble shrinkage) implements LinearSolver {
    static final String WORD = "lda";
    static final String FORM =
            "lda[:shrinkage=NUMBER|auto]: linear discriminant analysis, its covariance shrunk towards a multiple of"
                    + " the identity";

    private static final MemoryBound.Square SQUARE = new MemoryBound.Square(12_000, Double.BYTES);

    public Lda {
        if (shrinkage.isPresent() && !(shrinkage.getAsDouble() >= 0 && shrinkage.getAsDouble() <= 1)) {
            throw new IllegalArgumentException(
                    "the argument shrinkage of lda must be a number from 0 to 1 or auto, found "
                            + SolverText.decimal(shrinkage.getAsDouble()));
        }
    }

    @Override
    public String text() {
        return SolverText.write(WORD, "shrinkage", shrinkage);
    }

    @Override
    public void requireRoom(long rows, long size) {
        new MemoryBound(WORD, rows, size).requireRows();
        new MemoryBound(WORD, rows, size).requireSquare(SQUARE);
    }

    @Override
    public long bytes(long rows, long size) {
        long side = Math.min(rows, size);
        return 2 * Float.BYTES * rows * size
                + 4 * Double.BYTES * side * side; // matrix, shifted, factor, and single precision
    }

    @Override
    public LinearModel fit(LabelledRows rows, SolveWatch watch) {
        requireRoom(rows.count(), rows.size());
        watch.at("class covariance", 0, 1);
        try (Scope scope = Scope.open()) {
            CentredRows centred = CentredRows.aroundClassMeans(rows);
            Tensor centre = CentredRows.aroundMean(rows).centres();
            Tensor means = Elementwise.sub(centred.centres(), centre);
            PooledCovariance covariance = PooledCovariance.of(rows, centred);
            double gamma = shrinkage.orElseGet(() -> Shrinkage.of(rows, centred, covariance));
            watch.at("fitting lda", 0, 1);
            Tensor weight = covariance.solve(means, gamma);
            SequencedMap<String, Double> found = new LinkedHashMap<>();
            found.put("shrinkage", gamma);
            return new LinearModel(weight, Offsets.around(centre, weight, bias(rows, means, weight)), found)
                    .keptBy(scope);
        }
    }

    private static double[] bias(LabelledRows rows, Tensor means, Tensor weight) {
        double[] bias = Reductions.sum(Elementwise.mul(Tensors.to(means, DType.F64), Tensors.to(weight, DType.F64)), 1)
                .toDoubles();
        double all = 0;
        for (int label = 0; label < bias.length; label++) {
            all += rows.count(label) * rows.weight(label);
        }
        for (int label = 0; label < bias.length; label++) {
            bias[label] = Math.log(rows.count(label) * rows.weight(label) / all) - bias[label] / 2;
        }
        return bias;
    }
}
