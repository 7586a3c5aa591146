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
            case Transform.Spd _, Free _ -> between(matrices, parameters, "weight");
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
            case Parametric _ -> {
                Value weight = parameters.value("weight");
                yield forms(matrices, weight, weight);
            }
            case RandomMaclaurin maclaurin -> {
                Value left = parameters.value("w1");
                Value right = parameters.value("w2");
                yield forms(matrices, left, right).scale(1 / Math.sqrt(maclaurin.size()));
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
}
