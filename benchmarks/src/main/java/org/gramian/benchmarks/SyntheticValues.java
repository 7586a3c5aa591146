package org.gramian.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.backbone.Backbone;
import org.gramian.model.Head;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Pseudorandom values and initial parameters that are equal in every language: a hash of the index in 32-bit arithmetic.
 *
 * <p>{@code worker.py} has the same formulas.
 */
final class SyntheticValues {
    private static final long WORD = 0xffffffffL;
    private static final int FIRST_SEED = 10;
    private static final int CONVOLUTION_SEED = 2;
    private static final int CLASSIFIER_SEED = 3;
    private static final int STIEFEL_SEED = 4;

    private SyntheticValues() {}

    /** Returns the value at an index, uniform in [−0.5, 0.5). */
    static double at(long place, int seed) {
        long x = (place + seed * 1_000_003L) * 0x9E3779B1L & WORD;
        x ^= x >>> 15;
        x = x * 0x85EBCA77L & WORD;
        x ^= x >>> 13;
        return x / 4294967296.0 - 0.5;
    }

    /** Returns a float32 tensor uniform in {@code [−range, range)}. */
    static Tensor uniform(Shape shape, int seed, double range, Device device) {
        try (Scope scope = Scope.open()) {
            Tensor tensor = Tensors.empty(shape, DType.F32, Device.CPU);
            MemorySegment data = tensor.data();
            for (long i = 0; i < shape.elements(); i++) {
                data.setAtIndex(JAVA_FLOAT, i, (float) (at(i, seed) * 2 * range));
            }
            return scope.keep(Tensors.to(tensor, device));
        }
    }

    /**
     * Returns the first columns of an orthonormal matrix, a reflection with some columns negated: {@code (I − 2vvᵀ)·diag(±1)}.
     *
     * <p>It keeps the elements of the kernel matrix far from 0, half of them negative: near 0 the square root is so steep that
     * the gradient depends on rounding.
     */
    static Tensor orthonormal(Shape shape, int seed) {
        int size = Math.toIntExact(shape.at(0));
        int columns = Math.toIntExact(shape.at(1));
        double[] v = new double[size];
        double squares = 0;
        for (int i = 0; i < size; i++) {
            v[i] = at(i, seed);
            squares += v[i] * v[i];
        }
        double[] values = new double[size * columns];
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < columns; j++) {
                double reflected = (i == j ? 1 : 0) - 2 * v[i] * v[j] / squares;
                values[i * columns + j] = at(j, seed + 1) < 0 ? -reflected : reflected;
            }
        }
        return Tensors.of(values, shape, DType.F32);
    }

    /** Returns the Euclidean norm of a tensor, by which sides are compared. */
    static double norm(Tensor tensor) {
        try (Scope _ = Scope.open()) {
            return Math.sqrt(Reductions.sum(Elementwise.mul(tensor, tensor)).item());
        }
    }

    /**
     * Returns the parameters of backbone and head; without a backbone, of a head for a number of channels.
     *
     * <p>Weights of the i-th convolution of a backbone are uniform in {@code ±√(6/inputs)} with the seed 10 + i, those of the
     * convolution of a head with the seed 2; W is the first columns of an orthonormal matrix; the weights of the classifier are
     * uniform in ±0.1. Other parameters keep their default initialization.
     */
    static List<ParameterSpec> parameters(Optional<Backbone> backbone, Optional<Head> head, int channels) {
        List<ParameterSpec> all = new ArrayList<>();
        int seed = FIRST_SEED;
        for (ParameterSpec spec : backbone.map(Backbone::parameters).orElse(List.of())) {
            boolean filters = spec.role() == Role.WEIGHT && spec.shape().rank() == 4;
            all.add(filters ? with(spec, he(spec.shape(), seed++)) : spec);
        }
        long entering = backbone.map(Backbone::channels).orElse((long) channels);
        head.ifPresent(each -> each.parameters(entering).forEach(spec -> all.add(ofHead(spec))));
        return all;
    }

    private static ParameterSpec ofHead(ParameterSpec spec) {
        Shape shape = spec.shape();
        if (spec.role() == Role.STIEFEL && shape.rank() == 2) {
            return with(spec, (_, _, _) -> orthonormal(shape, STIEFEL_SEED));
        }
        return switch (spec.name()) {
            case "pooling.conv.weight" -> with(spec, he(shape, CONVOLUTION_SEED));
            case Head.CLASSIFIER + ".weight" -> with(spec, uniformInitializer(shape, CLASSIFIER_SEED, 0.1));
            default -> spec;
        };
    }

    private static ParameterSpec with(ParameterSpec spec, Initializer initial) {
        return new ParameterSpec(spec.name(), spec.shape(), spec.role(), initial);
    }

    private static Initializer he(Shape shape, int seed) {
        double inputs = (double) shape.elements() / shape.at(0);
        return uniformInitializer(shape, seed, Math.sqrt(6 / inputs));
    }

    private static Initializer uniformInitializer(Shape shape, int seed, double range) {
        return (_, _, type) -> {
            if (type != DType.F32) {
                throw new IllegalArgumentException("expected initial values in float32, found " + type);
            }
            return uniform(shape, seed, range, Device.CPU);
        };
    }
}
