package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Decompositions.Eigen;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

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
                means.add(scope.keep(exact(chunk).sum(0).mul(1.0 / rows.size(0))));
            }
        }
        Tensor mean = Tensors.concat(means, 1); // [1, d]
        Tensor axes = rows.size(1) > rows.size(0) ? ofLongRows(rows, mean, count) : ofShortRows(rows, mean, count);
        return new Found(mean.reshape(rows.size(1)), axes);
    }

    private static Tensor ofShortRows(Tensor rows, Tensor mean, int count) {
        Tensor centred = exact(rows).sub(mean);
        Tensor scatter = centred.transpose().matmul(centred);
        Tensor axes = leading(scatter, count);
        Tensor variances = variances(axes, scatter);
        return axes.mul(inDirections(variances, variances.pow(0)));
    }

    private static Tensor ofLongRows(Tensor rows, Tensor mean, int count) {
        Tensor products = Tensors.zeros(Shape.of(rows.size(0), rows.size(0)), DType.F64, Device.CPU);
        List<Tensor> chunks = columns(rows);
        List<Tensor> means = columns(mean);
        for (int i = 0; i < chunks.size(); i++) {
            try (Scope _ = Scope.open()) {
                Tensor centred = exact(chunks.get(i)).sub(means.get(i));
                products.copyFrom(products.add(centred.matmul(centred.transpose())));
            }
        }
        Tensor vectors = leading(products, count); // [k, n]
        Tensor variances = variances(vectors, products);
        Tensor scaled = vectors.mul(inDirections(variances, variances.pow(-0.5)));
        List<Tensor> axes = new ArrayList<>();
        for (int i = 0; i < chunks.size(); i++) {
            try (Scope scope = Scope.open()) {
                Tensor centred = exact(chunks.get(i)).sub(means.get(i));
                axes.add(scope.keep(scaled.matmul(centred).to(rows.type())));
            }
        }
        return Tensors.concat(axes, 1);
    }

    /** Computes {@code uᵀSu} for each row u, {@code [k, 1]}. */
    private static Tensor variances(Tensor vectors, Tensor scatter) {
        return vectors.matmul(scatter).mul(vectors).sum(1);
    }

    /** Returns the factors, 0 where the variance is a rounding error. */
    private static Tensor inDirections(Tensor variances, Tensor factors) {
        double smallest = SMALLEST_SHARE * variances.largestMagnitude();
        return Tensors.where(variances.greater(smallest), factors, 0);
    }

    private static List<Tensor> columns(Tensor rows) {
        List<Tensor> chunks = new ArrayList<>();
        for (long start = 0; start < rows.size(1); start += CHUNK) {
            chunks.add(rows.slice(1, start, Math.min(rows.size(1), start + CHUNK)));
        }
        return chunks;
    }

    private static Tensor exact(Tensor part) {
        return part.to(Device.CPU).to(DType.F64);
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
