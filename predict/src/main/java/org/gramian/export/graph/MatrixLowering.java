package org.gramian.export.graph;

import java.util.List;
import org.gramian.pooling.SecondOrder;
import org.gramian.pooling.Transform;
import org.gramian.pooling.Vectorization;
import org.gramian.spd.Democratic;
import org.gramian.spd.Kernel;
import org.gramian.spd.KernelSum;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.spd.SpectralFunction;
import org.gramian.spd.layer.NewtonSchulz;
import org.gramian.spd.layer.SparseInverse;
import org.gramian.tensor.DType;

/**
 * The second-order path as operators: kernel, transforms {@code [n, C, C]} to {@code [n, C', C']}, and vectorization to {@code
 * [n, d]}.
 */
record MatrixLowering(Graph graph) {
    Value lower(SecondOrder path, HostParameters parameters, Value maps) {
        KernelLowering kernel = new KernelLowering(graph, parameters.under(path.kernelPrefix()));
        Value matrices = graph.in("kernel", () -> kernel.lower(path.kernel(), maps));
        for (int i = 0; i < path.transforms().size(); i++) {
            Transform transform = path.transforms().get(i);
            HostParameters own = parameters.under(path.transformPrefix(i));
            Value entering = matrices;
            matrices = graph.in(transform.word(), () -> transform(transform, own, entering));
        }
        Vectorization vectorization = path.vectorization();
        String word = vectorization.word();
        Value transformed = matrices;
        return graph.in(word, () -> vectorize(vectorization, parameters.under(word), transformed));
    }

    private Value transform(Transform transform, HostParameters parameters, Value matrices) {
        return switch (transform) {
            case Transform.Spd _, Transform.Free _ -> between(matrices, parameters, "weight");
            case Transform.RiemannianNorm _ -> between(matrices, parameters, "inverseRoot");
            case Transform.Relu _ -> matrices.relu();
            case Transform.Isqrt isqrt -> squareRoot(matrices, isqrt.iterations(), false);
            case Transform.Isice isice -> sparseInverse(isice, matrices);
            case Transform.Spectrum spectrum -> throw refusal(spectrum);
        };
    }

    /** {@code WᵀKW}. */
    private Value between(Value matrices, HostParameters parameters, String name) {
        Value weight = parameters.value(name);
        return weight.transpose().matmul(matrices.matmul(weight));
    }

    private static NotExpressibleException refusal(Transform.Spectrum spectrum) {
        String instead = switch (spectrum.function()) {
            case SpectralFunction.Power power
            when power.exponent() == 0.5 -> "train with isqrt:5 instead, the same root by matrix products";
            case SpectralFunction.Power _ -> "train with isqrt:5 instead, a square root by matrix products";
            case SpectralFunction.Log _ ->
                "train without it, or with isqrt:5 instead, a square root by matrix products";
            case SpectralFunction.ReEig _ -> "train without it, or with relu instead, which is element-wise";
        };
        return new NotExpressibleException(
                "the transform " + spectrum.text() + " needs eigenvalues, for which ONNX has no operator; " + instead);
    }

    /** The steps of {@link NewtonSchulz}. */
    private Value squareRoot(Value matrices, int iterations, boolean inverse) {
        Value s = symmetric(matrices);
        Value trace = s.trace().atLeast(NewtonSchulz.SMALLEST_TRACE);
        Value half = graph.identity(s.at(1), 1.5);
        Value y = s.div(trace);
        Value z = graph.identity(s.at(1), 1);
        for (int i = 0; i < iterations; i++) {
            boolean last = i == iterations - 1; // of the last Y and Z only one is used
            Value product = i == 0 ? y : z.matmul(y); // Z is the identity at first
            Value t = half.sub(product.scale(0.5));
            y = last && inverse ? y : y.matmul(t);
            z = i == 0 ? t : last && !inverse ? z : t.matmul(z);
        }
        return inverse ? z.div(trace.sqrt()) : y.mul(trace.sqrt());
    }

    private Value symmetric(Value matrices) {
        return matrices.add(matrices.transpose()).scale(0.5);
    }

    /** The steps of {@link SparseInverse}. */
    private Value sparseInverse(Transform.Isice isice, Value matrices) {
        long size = matrices.at(1);
        Value raised = matrices.add(graph.identity(size, NewtonSchulz.SMALLEST_TRACE / size));
        Value j = raised.div(raised.trace());
        Value s = inverse(j);
        for (int k = 0; k < isice.iterations() - 1; k++) {
            double h = isice.rate() * (1 - k / (isice.iterations() - 1.0));
            Value step = j.sub(inverse(s)).scale(h);
            Value positive = s.relu().sub(step);
            Value negative = s.scale(-1).relu().add(step);
            s = symmetric(positive.shift(-h * isice.sparsity())
                    .relu()
                    .sub(negative.shift(-h * isice.sparsity()).relu()));
        }
        return s.div(s.trace().relu().shift(NewtonSchulz.SMALLEST_TRACE).sqrt());
    }

    private Value inverse(Value matrices) {
        Value root = squareRoot(matrices, SparseInverse.ROOT_ITERATIONS, true);
        return root.matmul(root);
    }

    private Value vectorize(Vectorization vectorization, HostParameters parameters, Value matrices) {
        return switch (vectorization) {
            case Vectorization.Triu _ -> upperTriangle(matrices);
            case Vectorization.Flat _ -> matrices.flatten();
            case Vectorization.Parametric _ -> {
                Value weight = parameters.value("weight");
                yield forms(matrices, weight, weight);
            }
            case Vectorization.RandomMaclaurin maclaurin -> {
                Value left = parameters.value("w1");
                Value right = parameters.value("w2");
                yield forms(matrices, left, right).scale(1 / Math.sqrt(maclaurin.size()));
            }
            case Vectorization.TensorSketch sketch -> sketch(sketch.size(), parameters, matrices);
        };
    }

    private Value upperTriangle(Value matrices) {
        int size = Math.toIntExact(matrices.at(1));
        long[] places = new long[size * (size + 1) / 2];
        double[] factors = new double[places.length];
        for (int i = 0, k = 0; i < size; i++) {
            for (int j = i; j < size; j++, k++) {
                places[k] = (long) i * size + j;
                factors[k] = i == j ? 1 : Math.sqrt(2);
            }
        }
        Value triangle = matrices.flatten().gather(places, 1);
        return triangle.mul(graph.constant("factors", List.of((long) factors.length), factors));
    }

    /** {@code v_k = l_kᵀ Y r_k}. */
    private Value forms(Value matrices, Value left, Value right) {
        return matrices.matmul(right).mul(left).sum(1).flatten();
    }

    /** Each bin's elements gathered layer by layer, with their signs; bins that have no more repeat the first with 0. */
    private Value sketch(int size, HostParameters parameters, Value matrices) {
        double[] bins = parameters.toDoubles("h");
        double[] signs = parameters.toDoubles("s");
        int rows = bins.length / 2;
        int[] binOf = new int[rows * rows];
        int[] filled = new int[size];
        int deepest = 1;
        for (int place = 0; place < binOf.length; place++) {
            binOf[place] = ((int) bins[place / rows] + (int) bins[rows + place % rows]) % size;
            deepest = Math.max(deepest, ++filled[binOf[place]]);
        }
        long[] places = new long[Math.multiplyExact(deepest, size)];
        double[] factors = new double[places.length];
        for (int place = binOf.length - 1; place >= 0; place--) {
            int slot = --filled[binOf[place]] * size + binOf[place];
            places[slot] = place;
            factors[slot] = signs[place / rows] * signs[rows + place % rows];
        }
        Value gathered = matrices.flatten().gather(places, 1);
        Value weights = graph.constant("signs", List.of((long) factors.length), factors);
        return gathered.mul(weights).reshape(deepest, size).sum(1).flatten();
    }

    /** Kernels: maps {@code [n, C, N]} to matrices {@code [n, C, C]}, with the centring, floors and jitter of {@code org.gramian.spd}. */
    private record KernelLowering(Graph graph, HostParameters parameters) {
        private static final double ROUNDING = Kernel.EQUALITY_MARGIN * DType.F32.epsilon();

        Value lower(Kernel kernel, Value maps) {
            long positions = maps.at(2);
            return switch (kernel) {
                case Rbf rbf -> rbf(rbf, maps);
                case Kernel.Laplacian laplacian -> laplacian(laplacian, maps);
                case Kernel.Polynomial polynomial -> {
                    Value base = maps.gram().scale(polynomial.scale()).shift(polynomial.offset());
                    yield jittered(polynomial.degree() == 1 ? base : base.power(polynomial.degree()), kernel);
                }
                case Kernel.Covariance covariance -> covariance(covariance, maps);
                case Kernel.Bilinear _ -> jittered(maps.gram().scale(1.0 / positions), kernel);
                case KernelSum sum ->
                    sum.combined(
                            (factor, name) -> graph.in(
                                    name, () -> new KernelLowering(graph, parameters.under(name)).lower(factor, maps)),
                            Value::add,
                            Value::mul,
                            Value::scale);
                case Democratic democratic -> jittered(democratic(democratic, maps), kernel);
                case Kernel.Gaussian _ -> jittered(withOnes(maps).gram().scale(1.0 / positions), kernel);
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

        private Value covariance(Kernel.Covariance kernel, Value maps) {
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

        private Value laplacian(Kernel.Laplacian kernel, Value maps) {
            Value distances = squaredOrZero(maps).sqrt();
            return jittered(distances.scale(-1 / kernel.sigma()).exp(), kernel);
        }
    }
}
