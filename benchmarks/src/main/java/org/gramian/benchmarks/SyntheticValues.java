package org.gramian.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Pseudorandom values that are equal in every language: a hash of the index in 32-bit arithmetic.
 *
 * <p>{@code worker.py} has the same formulas.
 */
final class SyntheticValues {
    private static final long WORD = 0xffffffffL;

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
}
