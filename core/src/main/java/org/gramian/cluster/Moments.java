package org.gramian.cluster;

import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Views;

/**
 * What a mixture is computed from: how much of the rows belongs to each component, and their sums under that.
 *
 * @param masses {@code Σ_i γ_ik}, {@code [k, 1]}
 * @param sums {@code Σ_i γ_ik x_i}, {@code [k, d]}
 * @param squares {@code Σ_i γ_ik x_i²}, {@code [k, d]}
 * @param logLikelihood the mean of {@code log p(x_i)} over rows
 */
record Moments(Tensor masses, Tensor sums, Tensor squares, double logLikelihood) {
    private static Moments zeros(ChunkedRows data, long components) {
        return new Moments(
                data.zeros(components, 1),
                data.zeros(components, data.width()),
                data.zeros(components, data.width()),
                Double.NaN);
    }

    /** Every row belongs to the component of its label alone. */
    static Moments ofLabels(ChunkedRows data, Tensor labels, Tensor unit) {
        Moments moments = zeros(data, unit.size(0));
        long start = 0;
        for (Tensor chunk : data.chunks()) {
            try (Scope _ = Scope.open()) {
                Tensor own = Views.slice(labels, 0, start, start + chunk.size(0));
                moments.add(chunk, Elementwise.mul(chunk, chunk), Views.select(unit, 0, own));
                start += chunk.size(0);
            }
        }
        return moments;
    }

    /** Every row belongs to the components in proportion to their densities there: the step of expectation. */
    static Moments of(ChunkedRows data, Gaussians mixture) {
        Moments moments = zeros(data, mixture.weights().size(0));
        Gaussians.Terms terms = mixture.terms();
        double likelihood = 0;
        for (Tensor chunk : data.chunks()) {
            try (Scope _ = Scope.open()) {
                Tensor squares = Elementwise.mul(chunk, chunk);
                Tensor logs = terms.logDensities(chunk, squares); // [chunk, k]
                Tensor largest = Reductions.max(logs, 1);
                Tensor shares = Elementwise.expInPlace(Elementwise.sub(logs, largest));
                Tensor total = Reductions.sum(shares, 1);
                likelihood += Reductions.sum(Elementwise.add(Elementwise.log(total), largest))
                        .item();
                moments.add(chunk, squares, Elementwise.div(shares, total));
            }
        }
        return new Moments(moments.masses, moments.sums, moments.squares, likelihood / data.count());
    }

    private void add(Tensor rows, Tensor squared, Tensor responsibilities) {
        Tensor turned = Views.transpose(responsibilities);
        masses.copyFrom(Elementwise.add(masses, Views.transpose(Reductions.sum(responsibilities, 0))));
        sums.copyFrom(Elementwise.add(sums, Products.matmul(turned, rows)));
        squares.copyFrom(Elementwise.add(squares, Products.matmul(turned, squared)));
    }

    Moments keptIn(Scope scope) {
        scope.keep(masses);
        scope.keep(sums);
        scope.keep(squares);
        return this;
    }
}
