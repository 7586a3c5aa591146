package org.gramian.accelerate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.accelerate.Equivalence.evaluate;
import static org.gramian.accelerate.Equivalence.on;
import static org.gramian.accelerate.Equivalence.requireClose;

import java.util.List;
import java.util.SplittableRandom;
import org.gramian.autodiff.Classification;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Gpu;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FusedLossTest {
    private static void requireSame(int rows, int classes, DType type, Device device, double tolerance) {
        SplittableRandom random = new SplittableRandom(1);
        try (Scope _ = Scope.open()) {
            Tensor scores = Tensors.uniform(random, -30, 30, Shape.of(rows, classes), DType.F64);
            Tensor targets = Tensors.uniform(random, 0, 2, Shape.of(rows, classes), DType.F64); // sums other than 1 too
            List<Tensor> expected = evaluate(v -> Classification.crossEntropy(v.getFirst(), targets), List.of(scores));
            List<Tensor> there = on(device, type, 2, type, List.of(scores, targets));
            List<Tensor> found = evaluate(v -> FusedLoss.crossEntropy(v.getFirst(), there.get(1)), there.subList(0, 1));
            requireClose(found, expected, tolerance, rows + " × " + classes);
        }
    }

    @Test
    void cpuUsesPlainLoss() {
        requireSame(3, 5, DType.F64, Device.CPU, 1e-15);
    }

    /** The last two are larger than the kernel takes, or have one class. */
    @ParameterizedTest
    @CsvSource({"1, 2", "32, 47", "33, 5", "128, 100", "7, 1000", "300, 1000"})
    void kernelEqualsPlainLoss(int rows, int classes) {
        requireSame(rows, classes, DType.F32, Gpu.required(), 1e-5);
    }

    @Test
    void nanStaysNan() {
        Device gpu = Gpu.required();
        try (Scope _ = Scope.open()) {
            Tensor scores = Tensors.of(new double[] {1, Double.NaN, 2, 0, 1, 2}, Shape.of(2, 3), DType.F32);
            Tensor targets =
                    Classification.oneHot(new long[] {0, 2}, 3, DType.F32).to(gpu);
            List<Tensor> found = evaluate(v -> FusedLoss.crossEntropy(v.getFirst(), targets), List.of(scores.to(gpu)));
            assertThat(found.get(0).item()).isNaN();
            assertThat(found.get(1).toDoubles()[0]).isNaN();
            assertThat(found.get(1).toDoubles()[3]).isFinite();
        }
    }
}
