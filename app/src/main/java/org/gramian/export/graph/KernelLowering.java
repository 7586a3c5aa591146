package org.gramian.export.graph;

import java.util.List;
import org.gramian.autodiff.ParameterSet;
import org.gramian.spd.Democratic;
import org.gramian.spd.Kernel;
import org.gramian.spd.Kernel.Bilinear;
import org.gramian.spd.Kernel.Covariance;
import org.gramian.spd.Kernel.Gaussian;
import org.gramian.spd.Kernel.Laplacian;
import org.gramian.spd.Kernel.Polynomial;
import org.gramian.spd.KernelSum;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.DType;

/**
 * Kernels as operators: maps {@code [n, C, N]} to matrices {@code [n, C, C]}, by the formulas of {@code org.gramian.spd}, with
 * the same centring, floors and jitter.
 *
 * @param algebra to whose graph nodes are added
 * @param parameters of the kernel
 */
record KernelLowering(Algebra algebra, ParameterSet parameters) {
    private static final double ROUNDING = Kernel.EQUALITY_MARGIN * DType.F32.epsilon();

    Value lower(Kernel kernel, Value maps) {
        long positions = maps.at(2);
        return switch (kernel) {
            case Rbf rbf -> rbf(rbf, maps);
            case Laplacian laplacian -> laplacian(laplacian, maps);
            case Polynomial polynomial -> {
                Value base = algebra.shift(algebra.scale(gram(maps), polynomial.scale()), polynomial.offset());
                yield jittered(polynomial.degree() == 1 ? base : algebra.power(base, polynomial.degree()), kernel);
            }
            case Covariance covariance -> covariance(covariance, maps);
            case Bilinear _ -> jittered(algebra.scale(gram(maps), 1.0 / positions), kernel);
            case KernelSum sum ->
                sum.combined(
                        (factor, name) ->
                                new KernelLowering(algebra.at(name), parameters.under(name)).lower(factor, maps),
                        algebra::add,
                        algebra::mul,
                        algebra::scale);
            case Democratic democratic -> jittered(democratic(democratic, maps), kernel);
            case Gaussian _ -> jittered(algebra.scale(gram(withOnes(maps)), 1.0 / positions), kernel);
        };
    }

    private Value gram(Value maps) {
        return algebra.matmul(maps, algebra.transpose(maps));
    }

    private Value jittered(Value matrices, Kernel kernel) {
        return kernel.jitter() == 0
                ? matrices
                : algebra.add(matrices, algebra.identity(matrices.at(1), kernel.jitter()));
    }

    private Value withOnes(Value maps) {
        Graph graph = algebra.graph();
        return graph.node(
                "Pad",
                maps.with(1, maps.at(1) + 1),
                List.of(maps, graph.wholes("pads", 0, 0, 0, 0, 1, 0), graph.number(1)));
    }

    private Value democratic(Democratic kernel, Value maps) {
        Value sums = forms(maps, algebra.scale(gram(maps), 1.0 / maps.at(2)));
        Value mean = algebra.shift(algebra.sumOver(sums, maps.at(2), 2), Democratic.SMALLEST_MEAN);
        Value products = algebra.div(sums, mean);
        Value target = algebra.power(algebra.shift(products, Democratic.MARGIN), kernel.gamma());
        Value weights = algebra.sqrt(algebra.div(target, algebra.shift(products, Democratic.MARGIN)));
        for (int i = 1; i < kernel.iterations(); i++) {
            products = algebra.div(forms(maps, weighted(maps, weights)), mean);
            Value influence = algebra.mul(weights, algebra.add(products, algebra.scale(weights, Democratic.MARGIN)));
            weights = algebra.mul(weights, algebra.sqrt(algebra.div(target, influence)));
        }
        return weighted(maps, weights);
    }

    /** {@code Σ_p α_p x_p x_pᵀ / N}. */
    private Value weighted(Value maps, Value weights) {
        return algebra.scale(algebra.matmul(algebra.mul(maps, weights), algebra.transpose(maps)), 1.0 / maps.at(2));
    }

    /** {@code x_pᵀ A x_p}. */
    private Value forms(Value maps, Value matrices) {
        return algebra.sum(algebra.mul(algebra.matmul(matrices, maps), maps), 1);
    }

    private Value covariance(Covariance kernel, Value maps) {
        Value centred = algebra.sub(maps, algebra.sumOver(maps, maps.at(2), 2));
        Value covariance = algebra.scale(gram(centred), 1.0 / (maps.at(2) - 1));
        double a = kernel.shrinkage();
        if (a > 0) {
            Value share = algebra.mul(trace(covariance), algebra.identity(covariance.at(1), a / covariance.at(1)));
            covariance = algebra.add(algebra.scale(covariance, 1 - a), share);
        }
        return jittered(covariance, kernel);
    }

    /** {@code [n, 1, 1]}. */
    private Value trace(Value matrices) {
        return algebra.sum(algebra.mul(matrices, algebra.identity(matrices.at(1), 1)), 1, 2);
    }

    /** Squared distances, of which the margin of rounding is taken off each norm beforehand or 0. */
    private record Squared(Value distances, Value norms) {}

    private Squared squared(Value maps, double margin) {
        Value x = algebra.sub(maps, algebra.sumOver(maps, maps.at(1), 1));
        Value norms = algebra.sum(algebra.mul(x, x), 2);
        Value s = margin == 0 ? norms : algebra.scale(norms, 1 - margin);
        Value sums = algebra.add(s, algebra.transpose(s));
        Value d = algebra.relu(algebra.sub(sums, algebra.scale(gram(x), 2)));
        return new Squared(algebra.mul(d, algebra.offDiagonal(maps.at(1))), norms);
    }

    /** Distances of maps that are equal up to rounding are 0. */
    private Value squaredOrZero(Value maps) {
        Squared found = squared(maps, 0);
        Value sums = algebra.add(found.norms, algebra.transpose(found.norms));
        return algebra.aboveOrZero(found.distances, algebra.scale(sums, ROUNDING));
    }

    private Value meanOverPairs(Value distances) {
        long size = distances.at(1);
        return algebra.sumOver(distances, size * (size - 1), 1, 2);
    }

    private Value rbf(Rbf kernel, Value maps) {
        return switch (kernel.sigma()) {
            case Sigma.Mean _ -> {
                Value d = squared(maps, ROUNDING).distances;
                yield rbf(kernel, d, meanOverPairs(algebra.sqrt(d)));
            }
            case Sigma.MeanFull _ -> {
                Value d = squaredOrZero(maps);
                yield rbf(kernel, d, meanOverPairs(algebra.sqrt(d)));
            }
            case Sigma.Estimate _ ->
                rbf(kernel, maps, parameters.get("sigma").value().item());
            case Sigma.Learned _ ->
                rbf(kernel, maps, Math.exp(parameters.get("logSigma").value().item()));
            case Sigma.Fixed fixed -> rbf(kernel, maps, fixed.value());
        };
    }

    private Value rbf(Rbf kernel, Value maps, double width) {
        double sigma = Math.max(width, Sigma.SMALLEST);
        Value exponents = algebra.scale(squared(maps, 0).distances, -0.5 / (sigma * sigma));
        return jittered(algebra.exp(exponents), kernel);
    }

    private Value rbf(Rbf kernel, Value distances, Value width) {
        Value sigma = algebra.atLeast(width, Sigma.SMALLEST);
        Value factor = algebra.scale(algebra.power(sigma, -2), -0.5);
        return jittered(algebra.exp(algebra.mul(distances, factor)), kernel);
    }

    private Value laplacian(Laplacian kernel, Value maps) {
        Value distances = algebra.sqrt(squaredOrZero(maps));
        return jittered(algebra.exp(algebra.scale(distances, -1 / kernel.sigma())), kernel);
    }
}
