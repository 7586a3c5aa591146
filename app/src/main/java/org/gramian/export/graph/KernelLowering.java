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
                Value base = maps.gram().scale(polynomial.scale()).shift(polynomial.offset());
                yield jittered(polynomial.degree() == 1 ? base : base.power(polynomial.degree()), kernel);
            }
            case Covariance covariance -> covariance(covariance, maps);
            case Bilinear _ -> jittered(maps.gram().scale(1.0 / positions), kernel);
            case KernelSum sum ->
                sum.combined(
                        (factor, name) -> graph.in(
                                name, () -> new KernelLowering(graph, parameters.under(name)).lower(factor, maps)),
                        Value::add,
                        Value::mul,
                        Value::scale);
            case Democratic democratic -> jittered(democratic(democratic, maps), kernel);
            case Gaussian _ -> jittered(withOnes(maps).gram().scale(1.0 / positions), kernel);
        };
    }

    private Value jittered(Value matrices, Kernel kernel) {
        return kernel.jitter() == 0 ? matrices : matrices.add(graph.identity(matrices.at(1), kernel.jitter()));
    }

    private Value withOnes(Value maps) {
        return graph.node(
                "Pad",
                maps.with(1, maps.at(1) + 1),
                List.of(maps, graph.integers("pads", 0, 0, 0, 0, 1, 0), graph.number(1)));
    }

    private Value democratic(Democratic kernel, Value maps) {
        Value sums = forms(maps, maps.gram().scale(1.0 / maps.at(2)));
        Value mean = sums.mean(2).shift(Democratic.SMALLEST_MEAN);
        Value products = sums.div(mean);
        Value target = products.shift(Democratic.MARGIN).power(kernel.gamma());
        Value weights = target.div(products.shift(Democratic.MARGIN)).sqrt();
        for (int i = 1; i < kernel.iterations(); i++) {
            products = forms(maps, weighted(maps, weights)).div(mean);
            Value influence = weights.mul(products.add(weights.scale(Democratic.MARGIN)));
            weights = weights.mul(target.div(influence).sqrt());
        }
        return weighted(maps, weights);
    }

    /** {@code Σ_p α_p x_p x_pᵀ / N}. */
    private Value weighted(Value maps, Value weights) {
        return maps.mul(weights).matmul(maps.transpose()).scale(1.0 / maps.at(2));
    }

    /** {@code x_pᵀ A x_p}. */
    private Value forms(Value maps, Value matrices) {
        return matrices.matmul(maps).mul(maps).sum(1);
    }

    private Value covariance(Covariance kernel, Value maps) {
        Value centred = maps.sub(maps.mean(2));
        Value covariance = centred.gram().scale(1.0 / (maps.at(2) - 1));
        double a = kernel.shrinkage();
        if (a > 0) {
            Value share = covariance.trace().mul(graph.identity(covariance.at(1), a / covariance.at(1)));
            covariance = covariance.scale(1 - a).add(share);
        }
        return jittered(covariance, kernel);
    }

    /** Squared distances, of which the margin of rounding is taken off each norm beforehand or 0. */
    private record Squared(Value distances, Value norms) {}

    private Squared squared(Value maps, double margin) {
        Value x = maps.sub(maps.mean(1));
        Value norms = x.square().sum(2);
        Value s = margin == 0 ? norms : norms.scale(1 - margin);
        Value sums = s.add(s.transpose());
        Value d = sums.sub(x.gram().scale(2)).relu();
        return new Squared(d.mul(graph.offDiagonal(maps.at(1))), norms);
    }

    /** Distances of maps that are equal up to rounding are 0. */
    private Value squaredOrZero(Value maps) {
        Squared found = squared(maps, 0);
        Value sums = found.norms.add(found.norms.transpose());
        return found.distances.aboveOrZero(sums.scale(ROUNDING));
    }

    private Value meanOverPairs(Value distances) {
        long size = distances.at(1);
        return distances.sum(1, 2).scale(1.0 / (size * (size - 1)));
    }

    private Value rbf(Rbf kernel, Value maps) {
        return switch (kernel.sigma()) {
            case Sigma.Mean _ -> {
                Value d = squared(maps, ROUNDING).distances;
                yield rbf(kernel, d, meanOverPairs(d.sqrt()));
            }
            case Sigma.MeanFull _ -> {
                Value d = squaredOrZero(maps);
                yield rbf(kernel, d, meanOverPairs(d.sqrt()));
            }
            case Sigma.Estimate _ -> rbf(kernel, maps, parameters.item("sigma"));
            case Sigma.Learned _ -> rbf(kernel, maps, Math.exp(parameters.item("logSigma")));
            case Sigma.Fixed fixed -> rbf(kernel, maps, fixed.value());
        };
    }

    private Value rbf(Rbf kernel, Value maps, double width) {
        double sigma = Math.max(width, Sigma.SMALLEST);
        Value exponents = squared(maps, 0).distances.scale(-0.5 / (sigma * sigma));
        return jittered(exponents.exp(), kernel);
    }

    private Value rbf(Rbf kernel, Value distances, Value width) {
        Value sigma = width.atLeast(Sigma.SMALLEST);
        Value factor = sigma.power(-2).scale(-0.5);
        return jittered(distances.mul(factor).exp(), kernel);
    }

    private Value laplacian(Laplacian kernel, Value maps) {
        Value distances = squaredOrZero(maps).sqrt();
        return jittered(distances.scale(-1 / kernel.sigma()).exp(), kernel);
    }
}
