package org.gramian.export.graph;

import java.util.List;
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
 * @param graph to which nodes are added
 * @param parameters of the kernel
 */
record KernelLowering(Graph graph, HostParameters parameters) {
    private static final double ROUNDING = Kernel.EQUALITY_MARGIN * DType.F32.epsilon();

    Value lower(Kernel kernel, Value maps) {
        long positions = maps.at(2);
        return switch (kernel) {
            case Rbf rbf -> rbf(rbf, maps);
            case Laplacian laplacian -> laplacian(laplacian, maps);
            case Polynomial polynomial -> {
                Value base = graph.shift(graph.scale(graph.gram(maps), polynomial.scale()), polynomial.offset());
                yield jittered(polynomial.degree() == 1 ? base : graph.power(base, polynomial.degree()), kernel);
            }
            case Covariance covariance -> covariance(covariance, maps);
            case Bilinear _ -> jittered(graph.scale(graph.gram(maps), 1.0 / positions), kernel);
            case KernelSum sum ->
                sum.combined(
                        (factor, name) ->
                                new KernelLowering(graph.at(name), parameters.under(name)).lower(factor, maps),
                        graph::add,
                        graph::mul,
                        graph::scale);
            case Democratic democratic -> jittered(democratic(democratic, maps), kernel);
            case Gaussian _ -> jittered(graph.scale(graph.gram(withOnes(maps)), 1.0 / positions), kernel);
        };
    }

    private Value jittered(Value matrices, Kernel kernel) {
        return kernel.jitter() == 0 ? matrices : graph.add(matrices, graph.identity(matrices.at(1), kernel.jitter()));
    }

    private Value withOnes(Value maps) {
        return graph.node(
                "Pad",
                maps.with(1, maps.at(1) + 1),
                List.of(maps, graph.integers("pads", 0, 0, 0, 0, 1, 0), graph.number(1)));
    }

    private Value democratic(Democratic kernel, Value maps) {
        Value sums = forms(maps, graph.scale(graph.gram(maps), 1.0 / maps.at(2)));
        Value mean = graph.shift(graph.sumOver(sums, maps.at(2), 2), Democratic.SMALLEST_MEAN);
        Value products = graph.div(sums, mean);
        Value target = graph.power(graph.shift(products, Democratic.MARGIN), kernel.gamma());
        Value weights = graph.sqrt(graph.div(target, graph.shift(products, Democratic.MARGIN)));
        for (int i = 1; i < kernel.iterations(); i++) {
            products = graph.div(forms(maps, weighted(maps, weights)), mean);
            Value influence = graph.mul(weights, graph.add(products, graph.scale(weights, Democratic.MARGIN)));
            weights = graph.mul(weights, graph.sqrt(graph.div(target, influence)));
        }
        return weighted(maps, weights);
    }

    /** {@code Σ_p α_p x_p x_pᵀ / N}. */
    private Value weighted(Value maps, Value weights) {
        return graph.scale(graph.matmul(graph.mul(maps, weights), graph.transpose(maps)), 1.0 / maps.at(2));
    }

    /** {@code x_pᵀ A x_p}. */
    private Value forms(Value maps, Value matrices) {
        return graph.sum(graph.mul(graph.matmul(matrices, maps), maps), 1);
    }

    private Value covariance(Covariance kernel, Value maps) {
        Value centred = graph.sub(maps, graph.sumOver(maps, maps.at(2), 2));
        Value covariance = graph.scale(graph.gram(centred), 1.0 / (maps.at(2) - 1));
        double a = kernel.shrinkage();
        if (a > 0) {
            Value share = graph.mul(graph.trace(covariance), graph.identity(covariance.at(1), a / covariance.at(1)));
            covariance = graph.add(graph.scale(covariance, 1 - a), share);
        }
        return jittered(covariance, kernel);
    }

    /** Squared distances, of which the margin of rounding is taken off each norm beforehand or 0. */
    private record Squared(Value distances, Value norms) {}

    private Squared squared(Value maps, double margin) {
        Value x = graph.sub(maps, graph.sumOver(maps, maps.at(1), 1));
        Value norms = graph.sum(graph.mul(x, x), 2);
        Value s = margin == 0 ? norms : graph.scale(norms, 1 - margin);
        Value sums = graph.add(s, graph.transpose(s));
        Value d = graph.relu(graph.sub(sums, graph.scale(graph.gram(x), 2)));
        return new Squared(graph.mul(d, graph.offDiagonal(maps.at(1))), norms);
    }

    /** Distances of maps that are equal up to rounding are 0. */
    private Value squaredOrZero(Value maps) {
        Squared found = squared(maps, 0);
        Value sums = graph.add(found.norms, graph.transpose(found.norms));
        return graph.aboveOrZero(found.distances, graph.scale(sums, ROUNDING));
    }

    private Value meanOverPairs(Value distances) {
        long size = distances.at(1);
        return graph.sumOver(distances, size * (size - 1), 1, 2);
    }

    private Value rbf(Rbf kernel, Value maps) {
        return switch (kernel.sigma()) {
            case Sigma.Mean _ -> {
                Value d = squared(maps, ROUNDING).distances;
                yield rbf(kernel, d, meanOverPairs(graph.sqrt(d)));
            }
            case Sigma.MeanFull _ -> {
                Value d = squaredOrZero(maps);
                yield rbf(kernel, d, meanOverPairs(graph.sqrt(d)));
            }
            case Sigma.Estimate _ -> rbf(kernel, maps, parameters.item("sigma"));
            case Sigma.Learned _ -> rbf(kernel, maps, Math.exp(parameters.item("logSigma")));
            case Sigma.Fixed fixed -> rbf(kernel, maps, fixed.value());
        };
    }

    private Value rbf(Rbf kernel, Value maps, double width) {
        double sigma = Math.max(width, Sigma.SMALLEST);
        Value exponents = graph.scale(squared(maps, 0).distances, -0.5 / (sigma * sigma));
        return jittered(graph.exp(exponents), kernel);
    }

    private Value rbf(Rbf kernel, Value distances, Value width) {
        Value sigma = graph.atLeast(width, Sigma.SMALLEST);
        Value factor = graph.scale(graph.power(sigma, -2), -0.5);
        return jittered(graph.exp(graph.mul(distances, factor)), kernel);
    }

    private Value laplacian(Laplacian kernel, Value maps) {
        Value distances = graph.sqrt(squaredOrZero(maps));
        return jittered(graph.exp(graph.scale(distances, -1 / kernel.sigma())), kernel);
    }
}
