package org.gramian.spd;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Seed;

/** Random and nasty maps and matrices, in double precision unless said otherwise. */
final class SampleMatrices {
    private SampleMatrices() {}

    static RandomGenerator random(Seed seed) {
        return seed.random();
    }

    static RandomGenerator random(long seed) {
        return new SplittableRandom(seed);
    }

    static Tensor gaussian(RandomGenerator random, long... sizes) {
        return Tensors.gaussian(random, Shape.of(sizes), DType.F64);
    }

    /** What may be the matter with maps. */
    enum Defect {
        NONE,
        /** The second map equals the last. */
        REPEATED,
        /** The second map is 0 everywhere. */
        DEAD,
        /** The first two maps are 0 everywhere. */
        TWO_DEAD
    }

    /** Gaussian maps {@code [n, C, N]} with a defect in every image. */
    static Tensor maps(RandomGenerator random, Defect defect, long n, long channels, long positions) {
        Tensor maps = gaussian(random, n, channels, positions);
        try (Scope _ = Scope.open()) {
            Tensor second = maps.slice(1, 1, 2);
            switch (defect) {
                case NONE -> {}
                case REPEATED -> second.copyFrom(maps.slice(1, channels - 1, channels));
                case DEAD -> second.fill(0);
                case TWO_DEAD -> maps.slice(1, 0, 2).fill(0);
            }
        }
        return maps;
    }

    /** {@code U diag(values) Uᵀ} as a batch of one matrix, U random. */
    static Tensor withEigenvalues(RandomGenerator random, double... values) {
        try (Scope scope = Scope.open()) {
            Tensor u = orthogonal(random, values.length);
            Tensor scaled = u.mul(Tensors.of(values, Shape.of(1, values.length), DType.F64));
            Tensor matrix = scaled.matmul(u.transpose());
            return scope.keep(Decompositions.symmetric(matrix).unsqueeze(0));
        }
    }

    static Tensor orthogonal(RandomGenerator random, long size) {
        return Stiefel.random(random, Shape.of(size, size), DType.F64);
    }

    /** Positive definite matrices {@code [n, size, size]}, {@code AAᵀ/size + I/10}. */
    static Tensor positiveDefinite(RandomGenerator random, long n, long size) {
        try (Scope scope = Scope.open()) {
            Tensor a = gaussian(random, n, size, size);
            return scope.keep(Gram.of(a, 1.0 / size, 0.1));
        }
    }

    static Tensor symmetric(RandomGenerator random, long n, long size) {
        try (Scope scope = Scope.open()) {
            return scope.keep(Decompositions.symmetric(gaussian(random, n, size, size)));
        }
    }

    static Tensor transpose(Tensor matrices) {
        return matrices.transpose().contiguous();
    }

    /** The rows of one image or matrix of a batch {@code [n, a, b]}. */
    static double[][] rows(Tensor batch, int index) {
        int rows = (int) batch.size(-2);
        int columns = (int) batch.size(-1);
        double[] all = batch.toDoubles();
        double[][] result = new double[rows][];
        for (int i = 0; i < rows; i++) {
            int start = (index * rows + i) * columns;
            result[i] = Arrays.copyOfRange(all, start, start + columns);
        }
        return result;
    }

    static double[] flat(double[][] rows) {
        return Stream.of(rows).flatMapToDouble(Arrays::stream).toArray();
    }

    /** The extreme eigenvalues of a batch of symmetric matrices. */
    record Spectrum(double smallest, double largest) {}

    static Spectrum spectrum(Tensor matrices) {
        Tensor exact = Decompositions.symmetric(matrices.to(DType.F64));
        double[] values = Decompositions.symmetricEigen(exact).values().toDoubles();
        Arrays.sort(values);
        return new Spectrum(values[0], values[values.length - 1]);
    }
}
