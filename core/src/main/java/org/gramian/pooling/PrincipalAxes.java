package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Decompositions.Eigen;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/** Principal component analysis: leading eigenvectors of a scatter matrix. */
final class PrincipalAxes {
    /** Columns that are converted to float64 at once. */
    private static final long CHUNK = 4096;

    /** Variances below this fraction of the largest are rounding errors. */
    private static final double SMALLEST_SHARE = 1e-12;

    private PrincipalAxes() {}

    /**
     * Mean and principal axes.
     *
     * @param mean {@code [d]}
     * @param axes orthonormal rows {@code [k, d]} in descending order of variance; zeros beyond the rank of the data
     */
    record Found(Tensor mean, Tensor axes) {}

    /**
     * Computes the leading axes of rows {@code [n, d]} from the smaller of {@code XᵀX} and {@code XXᵀ}, X the centred
     * rows. An eigenvector u of {@code XXᵀ} gives the axis {@code Xᵀu/√λ}.
     */
    static Found ofRows(Tensor rows, int count) {
        List<Tensor> means = new ArrayList<>();
        for (Tensor chunk : columns(rows)) {
            try (Scope scope = Scope.open()) {
                means.add(scope.keep(Elementwise.mul(Reductions.sum(exact(chunk), 0), 1.0 / rows.size(0))));
            }
        }
        Tensor mean = Views.concat(means, 1); // [1, d]
        Tensor axes = rows.size(1) > rows.size(0) ? ofLongRows(rows, mean, count) : ofShortRows(rows, mean, count);
        return new Found(Views.reshape(mean, rows.size(1)), axes);
    }

    private static Tensor ofShortRows(Tensor rows, Tensor mean, int count) {
        Tensor centred = Elementwise.sub(exact(rows), mean);
        Tensor scatter = Products.matmul(Views.transpose(centred), centred);
        Tensor axes = leading(scatter, count);
        Tensor variances = variances(axes, scatter);
        return Elementwise.mul(axes, inDirections(variances, Elementwise.pow(variances, 0)));
    }

    private static Tensor ofLongRows(Tensor rows, Tensor mean, int count) {
        Tensor products = Tensors.zeros(Shape.of(rows.size(0), rows.size(0)), DType.F64, Device.CPU);
        List<Tensor> chunks = columns(rows);
        List<Tensor> means = columns(mean);
        for (int i = 0; i < chunks.size(); i++) {
            try (Scope _ = Scope.open()) {
                Tensor centred = Elementwise.sub(exact(chunks.get(i)), means.get(i));
                products.copyFrom(Elementwise.add(products, Products.matmul(centred, Views.transpose(centred))));
            }
        }
        Tensor vectors = leading(products, count); // [k, n]
        Tensor variances = variances(vectors, products);
        Tensor scaled = Elementwise.mul(vectors, inDirections(variances, Elementwise.pow(variances, -0.5)));
        List<Tensor> axes = new ArrayList<>();
        for (int i = 0; i < chunks.size(); i++) {
            try (Scope scope = Scope.open()) {
                Tensor centred = Elementwise.sub(exact(chunks.get(i)), means.get(i));
                axes.add(scope.keep(Tensors.to(Products.matmul(scaled, centred), rows.type())));
            }
        }
        return Views.concat(axes, 1);
    }

    /** Computes {@code uᵀSu} for each row u, {@code [k, 1]}. */
    private static Tensor variances(Tensor vectors, Tensor scatter) {
        return Reductions.sum(Elementwise.mul(Products.matmul(vectors, scatter), vectors), 1);
    }

    /** Returns the factors, 0 where the variance is a rounding error. */
    private static Tensor inDirections(Tensor variances, Tensor factors) {
        double smallest = SMALLEST_SHARE * Reductions.largestMagnitude(variances);
        return Elementwise.where(Elementwise.greater(variances, smallest), factors, 0);
    }

    private static List<Tensor> columns(Tensor rows) {
        List<Tensor> chunks = new ArrayList<>();
        for (long start = 0; start < rows.size(1); start += CHUNK) {
            chunks.add(Views.slice(rows, 1, start, Math.min(rows.size(1), start + CHUNK)));
        }
        return chunks;
    }

    private static Tensor exact(Tensor part) {
        return Tensors.to(Tensors.to(part, Device.CPU), DType.F64);
    }

    /** Returns the eigenvectors of the largest eigenvalues as rows {@code [count, c]}, largest element positive. */
    static Tensor leading(Tensor scatter, int count) {
        Eigen eigen = Decompositions.symmetricEigen(scatter);
        double[] values = eigen.values().toDoubles();
        double[] vectors = eigen.vectors().toDoubles();
        int size = values.length;
        int[] order = IntStream.range(0, size)
                .boxed()
                .sorted((a, b) -> Double.compare(values[b], values[a]))
                .limit(count)
                .mapToInt(i -> i)
                .toArray();
        double[] rows = new double[count * size];
        for (int k = 0; k < count; k++) {
            double largest = 0;
            for (int i = 0; i < size; i++) {
                double element = vectors[i * size + order[k]];
                rows[k * size + i] = element;
                largest = Math.abs(element) > Math.abs(largest) ? element : largest;
            }
            for (int i = 0; largest < 0 && i < size; i++) {
                rows[k * size + i] *= -1;
            }
        }
        return Tensors.of(rows, Shape.of(count, size), DType.F64);
    }
}
