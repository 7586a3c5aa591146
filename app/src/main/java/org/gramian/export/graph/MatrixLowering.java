package org.gramian.export.graph;

import java.util.List;
import org.gramian.pooling.SecondOrder;
import org.gramian.pooling.Transform;
import org.gramian.pooling.Transform.Free;
import org.gramian.pooling.Vectorization;
import org.gramian.pooling.Vectorization.Parametric;
import org.gramian.pooling.Vectorization.RandomMaclaurin;
import org.gramian.pooling.Vectorization.TensorSketch;
import org.gramian.spd.SpectralFunction;
import org.gramian.spd.layer.NewtonSchulz;
import org.gramian.spd.layer.SparseInverse;

/**
 * The second-order path as operators: kernel, transforms {@code [n, C, C]} to {@code [n, C', C']}, and vectorization to {@code
 * [n, d]}.
 *
 * @param graph to which nodes are added
 */
record MatrixLowering(Graph graph) {
    Value lower(SecondOrder path, HostParameters parameters, Value maps) {
        Value matrices = new KernelLowering(graph.at("kernel"), parameters.under(path.kernelPrefix()))
                .lower(path.kernel(), maps);
        for (int i = 0; i < path.transforms().size(); i++) {
            Transform transform = path.transforms().get(i);
            matrices = new MatrixLowering(graph.at(transform.word()))
                    .transform(transform, parameters.under(path.transformPrefix(i)), matrices);
        }
        Vectorization vectorization = path.vectorization();
        return new MatrixLowering(graph.at(vectorization.word()))
                .vectorize(vectorization, parameters.under(vectorization.word()), matrices);
    }

    private Value transform(Transform transform, HostParameters parameters, Value matrices) {
        return switch (transform) {
            case Transform.Spd _, Free _ -> between(matrices, parameters, "weight");
            case Transform.RiemannianNorm _ -> between(matrices, parameters, "inverseRoot");
            case Transform.Relu _ -> graph.relu(matrices);
            case Transform.Isqrt isqrt -> squareRoot(matrices, isqrt.iterations(), false);
            case Transform.Isice isice -> sparseInverse(isice, matrices);
            case Transform.Spectrum spectrum -> throw refusal(spectrum);
        };
    }

    /** {@code WᵀKW}. */
    private Value between(Value matrices, HostParameters parameters, String name) {
        Value weight = graph.parameter(parameters, name);
        return graph.matmul(graph.transpose(weight), graph.matmul(matrices, weight));
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
        Value trace = graph.atLeast(graph.trace(s), NewtonSchulz.SMALLEST_TRACE);
        Value half = graph.identity(s.at(1), 1.5);
        Value y = graph.div(s, trace);
        Value z = graph.identity(s.at(1), 1);
        for (int i = 0; i < iterations; i++) {
            boolean last = i == iterations - 1; // of the last Y and Z only one is used
            Value product = i == 0 ? y : graph.matmul(z, y); // Z is the identity at first
            Value t = graph.sub(half, graph.scale(product, 0.5));
            y = last && inverse ? y : graph.matmul(y, t);
            z = i == 0 ? t : last && !inverse ? z : graph.matmul(t, z);
        }
        return inverse ? graph.div(z, graph.sqrt(trace)) : graph.mul(y, graph.sqrt(trace));
    }

    private Value symmetric(Value matrices) {
        return graph.scale(graph.add(matrices, graph.transpose(matrices)), 0.5);
    }

    /** The steps of {@link SparseInverse}. */
    private Value sparseInverse(Transform.Isice isice, Value matrices) {
        long size = matrices.at(1);
        Value raised = graph.add(matrices, graph.identity(size, NewtonSchulz.SMALLEST_TRACE / size));
        Value j = graph.div(raised, graph.trace(raised));
        Value s = inverse(j);
        for (int k = 0; k < isice.iterations() - 1; k++) {
            double h = isice.rate() * (1 - k / (isice.iterations() - 1.0));
            Value step = graph.scale(graph.sub(j, inverse(s)), h);
            Value positive = graph.sub(graph.relu(s), step);
            Value negative = graph.add(graph.relu(graph.scale(s, -1)), step);
            s = symmetric(graph.sub(
                    graph.relu(graph.shift(positive, -h * isice.sparsity())),
                    graph.relu(graph.shift(negative, -h * isice.sparsity()))));
        }
        return graph.div(s, graph.sqrt(graph.shift(graph.relu(graph.trace(s)), NewtonSchulz.SMALLEST_TRACE)));
    }

    private Value inverse(Value matrices) {
        Value root = squareRoot(matrices, SparseInverse.ROOT_ITERATIONS, true);
        return graph.matmul(root, root);
    }

    private Value vectorize(Vectorization vectorization, HostParameters parameters, Value matrices) {
        return switch (vectorization) {
            case Vectorization.Triu _ -> upperTriangle(matrices);
            case Vectorization.Flat _ -> graph.reshape(matrices, matrices.each());
            case Parametric _ -> {
                Value weight = graph.parameter(parameters, "weight");
                yield forms(matrices, weight, weight);
            }
            case RandomMaclaurin maclaurin -> {
                Value left = graph.parameter(parameters, "w1");
                Value right = graph.parameter(parameters, "w2");
                yield graph.scale(forms(matrices, left, right), 1 / Math.sqrt(maclaurin.size()));
            }
            case TensorSketch sketch -> sketch(sketch.size(), parameters, matrices);
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
        Value triangle = graph.gather(graph.reshape(matrices, matrices.each()), places, 1);
        Value weights = graph.constant("factors", List.of((long) factors.length), factors);
        return graph.mul(triangle, weights);
    }

    /** {@code v_k = l_kᵀ Y r_k}. */
    private Value forms(Value matrices, Value left, Value right) {
        Value products = graph.mul(graph.matmul(matrices, right), left);
        return graph.reshape(graph.sum(products, 1), right.at(1));
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
        Value gathered = graph.gather(graph.reshape(matrices, matrices.each()), places, 1);
        Value weights = graph.constant("signs", List.of((long) factors.length), factors);
        Value layers = graph.reshape(graph.mul(gathered, weights), deepest, size);
        return graph.reshape(graph.sum(layers, 1), size);
    }
}
