package org.gramian.cluster;

import java.util.random.RandomGenerator;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * A mixture while it is being fitted.
 *
 * @param weights {@code w [k]}
 * @param means {@code μ [k, d]}
 * @param variances {@code σ² [k, d]}
 */
record Gaussians(Tensor weights, Tensor means, Tensor variances) {
    /** Smaller than any mass that is kept; a component without mass is begun again before it is used. */
    private static final double SMALLEST_MASS = 1e-30;

    /** The best mixture for given memberships: the step of maximization. */
    static Gaussians of(Moments moments, double floor) {
        Tensor masses = Elementwise.atLeast(moments.masses(), SMALLEST_MASS);
        Tensor total = Reductions.sum(masses);
        Tensor means = Elementwise.div(moments.sums(), masses);
        Tensor squares = Elementwise.div(moments.squares(), masses);
        Tensor variances = Elementwise.atLeast(Elementwise.sub(squares, Elementwise.mul(means, means)), floor);
        Tensor weights = Views.reshape(Elementwise.div(masses, total), masses.size(0));
        return new Gaussians(weights, means, variances);
    }

    /**
     * What log-densities are made of: {@code ℓ_k(x) = constant_k + ⟨x, linear_k⟩ + ⟨x², square_k⟩}.
     *
     * @param square {@code −1/(2σ²)}, {@code [d, k]}
     * @param linear {@code μ/σ²}, {@code [d, k]}
     * @param constant {@code log w − ½ Σ (log 2πσ² + μ²/σ²)}, {@code [1, k]}
     */
    record Terms(Tensor square, Tensor linear, Tensor constant) {
        /** {@code log w_k + log N(x; μ_k, σ_k²)} of rows, {@code [n, k]}. */
        Tensor logDensities(Tensor rows, Tensor squares) {
            Tensor quadratic = Products.matmul(squares, square);
            return Elementwise.add(Elementwise.add(quadratic, Products.matmul(rows, linear)), constant);
        }
    }

    Terms terms() {
        Tensor precision = Elementwise.reciprocal(variances);
        Tensor linear = Elementwise.mul(means, precision);
        Tensor logs = Elementwise.log(Elementwise.mul(variances, 2 * Math.PI));
        Tensor halves = Elementwise.mul(
                Reductions.sum(Elementwise.add(logs, Elementwise.mul(means, linear)), 1), -0.5); // [k, 1]
        Tensor constant = Elementwise.add(Views.reshape(halves, 1, weights.size(0)), Elementwise.log(weights));
        return new Terms(Views.transpose(Elementwise.mul(precision, -0.5)), Views.transpose(linear), constant);
    }

    /**
     * Begins components that have hardly any rows again, each from the heaviest of all at that time, in place.
     *
     * @return whether there were any
     */
    boolean reseed(Tensor masses, long rows, RandomGenerator random) {
        double[] weight = masses.toDoubles();
        double smallest = GaussianMixture.SMALLEST_SHARE * rows / weight.length;
        boolean any = false;
        for (int k = 0; k < weight.length; k++) {
            if (weight[k] < smallest) {
                int heaviest = 0;
                for (int j = 1; j < weight.length; j++) {
                    heaviest = weight[j] > weight[heaviest] ? j : heaviest;
                }
                weight[heaviest] /= 2;
                weight[k] = weight[heaviest];
                split(heaviest, k, random);
                any = true;
            }
        }
        if (any) {
            Tensor changed = Tensors.of(weight, weights.shape(), weights.type());
            weights.copyFrom(Elementwise.div(changed, Reductions.sum(changed)));
        }
        return any;
    }

    private void split(int heaviest, int empty, RandomGenerator random) {
        try (Scope _ = Scope.open()) {
            Tensor variance = row(variances, heaviest);
            Tensor gaussian = Tensors.gaussian(random, variance.shape(), variance.type());
            Tensor signs = Tensors.to(Elementwise.sign(gaussian), variance.device());
            Tensor step = Elementwise.mul(Elementwise.mul(Elementwise.sqrt(variance), signs), 0.5);
            Tensor mean = Tensors.copy(row(means, heaviest));
            row(means, empty).copyFrom(Elementwise.add(mean, step));
            row(means, heaviest).copyFrom(Elementwise.sub(mean, step));
            row(variances, empty).copyFrom(variance);
        }
    }

    private static Tensor row(Tensor matrix, int k) {
        return Views.slice(matrix, 0, k, k + 1L);
    }

    Gaussians keptIn(Scope scope) {
        scope.keep(weights);
        scope.keep(means);
        scope.keep(variances);
        return this;
    }
}
