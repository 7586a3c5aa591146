package org.gramian.tensor;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.tensor.library.Libtorch;

/** Reductions: sums, means, maxima. */
public final class Reductions {
    private static final class Operators {
        static final Operator SUM = Operator.of("sum");
        static final Operator SUM_OF = Operator.of("sum", "dim_IntList");
        static final Operator MEAN = Operator.of("mean");
        static final Operator MAX = Operator.of("max", "dim");
        static final Operator IS_FINITE = Operator.of("isfinite");
        static final Operator ALL = Operator.of("all");
        static final Operator MATMUL = Operator.of("matmul");
    }

    private Reductions() {}

    /** Sums all elements; returns a tensor of shape {@code []}. */
    public static Tensor sum(Tensor x) {
        return Operators.SUM.call(x, null);
    }

    /** Averages all elements; returns a tensor of shape {@code []}. */
    public static Tensor mean(Tensor x) {
        Checks.floating("mean", x);
        return Operators.MEAN.call(x, null);
    }

    /** Sums over dimensions, which keep size 1; without dimensions returns a copy. */
    public static Tensor sum(Tensor x, int... dimensions) {
        Checks.floating("sum", x);
        boolean[] summed = new boolean[x.shape().rank()];
        for (int dimension : dimensions) {
            summed[x.shape().index(dimension)] = true;
        }
        long[] list = IntStream.range(0, summed.length)
                .filter(i -> summed[i])
                .mapToLong(i -> i)
                .toArray();
        if (list.length == 0) {
            return Tensors.copy(x);
        }
        if (Libtorch.load().hasLists()) {
            return Operators.SUM_OF.call(x, Optional.of(list), true, null);
        }
        return sumByProducts(x, summed);
    }

    /** Sums the columns of a matrix {@code [m, c]}; returns {@code [c]}. */
    public static Tensor columnSums(Tensor matrix) {
        return FeatureMapKernels.suitSumOverRows(matrix)
                ? FeatureMapKernels.sumOverRows(matrix)
                : Views.reshape(sum(matrix, 0), matrix.size(1));
    }

    /**
     * Sums over dimensions for libtorch before 2.10, whose dispatcher accepts no lists: runs of adjacent dimensions are
     * summed from the last to the first, each by a product with ones.
     */
    private static Tensor sumByProducts(Tensor x, boolean[] summed) {
        try (Scope scope = Scope.open()) {
            Tensor sum = x;
            int end = summed.length;
            while (end > 0) {
                int start = end - 1;
                if (summed[start]) {
                    while (start > 0 && summed[start - 1]) {
                        start--;
                    }
                    sum = sumRun(sum, start, end);
                }
                end = start;
            }
            return scope.keep(sum);
        }
    }

    private static Tensor sumRun(Tensor x, int start, int end) {
        long[] sizes = x.shape().sizes();
        long before = product(sizes, 0, start);
        long run = product(sizes, start, end);
        long after = product(sizes, end, sizes.length);
        Arrays.fill(sizes, start, end, 1);
        Tensor ones = Tensors.full(1, Shape.of(1, run), x.type(), x.device());
        if (after == 1) {
            Tensor rows = Views.reshape(x, before, run);
            return Views.reshape(Operators.MATMUL.call(rows, Views.transpose(ones)), sizes);
        }
        return Views.reshape(Operators.MATMUL.call(ones, Views.reshape(x, before, run, after)), sizes);
    }

    private static long product(long[] sizes, int start, int end) {
        return Arrays.stream(sizes, start, end).reduce(1, (a, b) -> a * b);
    }

    /** Computes the maxima along a dimension, which keeps size 1. */
    public static Tensor max(Tensor x, int dimension) {
        Tensor[] valuesAndPlaces = Operators.MAX.results(2, x, (long) x.shape().index(dimension), true);
        valuesAndPlaces[1].close();
        return valuesAndPlaces[0];
    }

    /**
     * Maxima along a dimension with their indexes.
     *
     * @param values maxima; the dimension has size 1
     * @param places indexes of the same shape, I64
     */
    public record Largest(Tensor values, Tensor places) {}

    /** Computes the maxima along a dimension, which keeps size 1, and their indexes; of equal elements any. */
    public static Largest largest(Tensor x, int dimension) {
        Tensor[] valuesAndPlaces = Operators.MAX.results(2, x, (long) x.shape().index(dimension), true);
        return new Largest(valuesAndPlaces[0], valuesAndPlaces[1]);
    }

    /** Returns whether no element is NaN or infinite. */
    public static boolean allFinite(Tensor x) {
        try (Scope _ = Scope.open()) {
            return Operators.ALL.call(Operators.IS_FINITE.call(x)).toBytes()[0] != 0;
        }
    }

    /** Returns the largest magnitude of an element; 0 for a tensor without elements. */
    public static double largestMagnitude(Tensor x) {
        if (x.shape().elements() == 0) {
            return 0;
        }
        try (Scope _ = Scope.open()) {
            return max(Views.reshape(Elementwise.abs(x), x.shape().elements()), 0)
                    .item();
        }
    }
}
