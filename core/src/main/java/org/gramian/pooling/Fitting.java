package org.gramian.pooling;

import java.util.stream.IntStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.spd.Rbf;
import org.gramian.spd.Sigma;
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

/** Fits what a pooling takes from data before training: principal axes, and the width {@code sigma=estimate}. */
public final class Fitting {
    private static final String SIGMA = "rbf.sigma";

    private Fitting() {}

    /** Whether a pooling has anything to fit. */
    public static boolean isNeeded(Pooling pooling) {
        return pooling.reductions().stream().anyMatch(Reduction.Pca.class::isInstance) || estimatesSigma(pooling);
    }

    private static boolean estimatesSigma(Pooling pooling) {
        return pooling.aggregation() instanceof SecondOrder secondOrder
                && secondOrder.kernel() instanceof Rbf rbf
                && rbf.sigma() instanceof Sigma.Estimate;
    }

    /** Fits what has no value yet to a sample of training features {@code [n, c, h, w]}, stage by stage. */
    public static void fit(Pooling pooling, Tensor features, ParameterSet parameters) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Tensor maps = Views.reshape(features, Pooling.mapSizes("fitting", features));
            for (int i = 0; i < pooling.reductions().size(); i++) {
                Reduction reduction = pooling.reductions().get(i);
                if (reduction instanceof Reduction.Pca pca && isUnset(parameters, pooling.name(i) + ".mean")) {
                    fitPrincipalAxes(pca, pooling.name(i), maps, parameters);
                }
                Bindings bindings = Bindings.of(parameters.variables(tape)).under(pooling.name(i));
                Var reduced = reduction.apply(tape.constant(maps), bindings);
                maps = reduced.value();
            }
            if (estimatesSigma(pooling) && isUnset(parameters, SIGMA)) {
                parameters
                        .get(SIGMA)
                        .set(like(Tensors.of(new double[] {Rbf.meanDistance(maps)}, Shape.of(1), maps.type()), maps));
            }
        }
    }

    /** Fitted parameters begin as NaN. */
    private static boolean isUnset(ParameterSet parameters, String name) {
        return isUnset(parameters.get(name).value());
    }

    static boolean isUnset(Tensor fitted) {
        return Double.isNaN(Views.slice(Views.reshape(fitted, fitted.shape().elements()), 0, 0, 1)
                .item());
    }

    private static void fitPrincipalAxes(Reduction.Pca pca, String name, Tensor maps, ParameterSet parameters) {
        Tensor exact = Tensors.to(Tensors.to(maps, DType.F64), Device.CPU);
        long samples = maps.size(0) * maps.size(2);
        Tensor mean = Elementwise.mul(Reductions.sum(exact, 0, 2), 1.0 / samples); // [1, c, 1]
        Tensor centred = Elementwise.sub(exact, mean);
        Tensor scatter = Products.sumOfProducts(centred, Views.transpose(centred));
        Eigen eigen = Decompositions.symmetricEigen(scatter);
        Tensor components = leading(eigen, pca.channels());
        parameters.get(name + ".mean").set(like(Views.reshape(mean, maps.size(1)), maps));
        parameters.get(name + ".components").set(like(components, maps));
    }

    /** The eigenvectors of the largest eigenvalues as rows, each with its largest element positive. */
    private static Tensor leading(Eigen eigen, int count) {
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

    /** A copy of the type and on the device of a sample. */
    private static Tensor like(Tensor made, Tensor sample) {
        return Tensors.copy(Tensors.to(Tensors.to(made, sample.type()), sample.device()));
    }
}
