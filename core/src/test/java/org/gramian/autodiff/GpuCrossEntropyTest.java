package org.gramian.autodiff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
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

/** Cross-entropy by a CUDA kernel against that of the CPU in float64. */
class GpuCrossEntropyTest {
    private record Computed(double loss, double[] gradient) {
        static Computed of(Tensor scores, Tensor targets, DType type, Device device) {
            try (Scope _ = Scope.open();
                    Tape tape = Tape.recording()) {
                Var x = tape.variable(scores.to(type).to(device));
                Var loss = Classification.crossEntropy(x, targets.to(type).to(device));
                assertThat(loss.shape()).isEqualTo(Shape.of());
                try (Gradients gradients = tape.backward(
                        loss, Tensors.full(3, Shape.of(), type, Device.CPU).to(device))) {
                    return new Computed(loss.value().item(), gradients.of(x).toDoubles());
                }
            }
        }
    }

    /** The last two are larger than the kernel takes, or have one class. */
    @ParameterizedTest
    @CsvSource({"1, 2", "32, 47", "33, 5", "128, 100", "7, 1000", "300, 1000", "4, 1"})
    void lossAndGradientAreThoseOfFloat64(int rows, int classes) {
        Device gpu = Gpu.required();
        SplittableRandom random = new SplittableRandom(1);
        try (Scope _ = Scope.open()) {
            Tensor scores = Tensors.uniform(random, -30, 30, Shape.of(rows, classes), DType.F32);
            Tensor targets = Tensors.uniform(random, 0, 2, Shape.of(rows, classes), DType.F32); // sums other than 1 too
            Computed expected = Computed.of(scores, targets, DType.F64, Device.CPU);
            Computed found = Computed.of(scores, targets, DType.F32, gpu);
            assertThat(found.loss).isEqualTo(expected.loss, within(1e-5 * Math.abs(expected.loss) + 1e-6));
            assertThat(found.gradient).containsExactly(expected.gradient, within(1e-5 * classes / rows + 1e-6));
        }
    }

    @Test
    void notANumberStaysOne() {
        Device gpu = Gpu.required();
        try (Scope _ = Scope.open()) {
            Tensor scores = Tensors.of(new double[] {1, Double.NaN, 2, 0, 1, 2}, Shape.of(2, 3), DType.F32);
            Tensor targets = Classification.oneHot(new long[] {0, 2}, 3, DType.F32);
            Computed found = Computed.of(scores, targets, DType.F32, gpu);
            assertThat(found.loss).isNaN();
            assertThat(found.gradient[0]).isNaN();
            assertThat(found.gradient[3]).isFinite();
        }
    }
}
