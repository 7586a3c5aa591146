package org.gramian.autodiff.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bilinear resizing against a formula position by position, its gradient, and its inverse. */
@ExtendWith(Scoped.class)
class InterpolationTest {
    private static Tensor maps(long height, long width, DType type) {
        return Tensors.gaussian(new SplittableRandom(11), Shape.of(2, 3, height, width), type);
    }

    private static Tensor resized(Tensor maps, long height, long width) {
        try (Tape tape = Tape.inference()) {
            return Interpolation.resize(tape.constant(maps), height, width)
                    .value()
                    .copy();
        }
    }

    /** The weight of a tent of width 1 around the source coordinate, clamped to the map: no matrix, no floor. */
    private static double expected(double[] map, int h, int w, double y, double x) {
        double row = Math.clamp(y, 0, h - 1);
        double column = Math.clamp(x, 0, w - 1);
        double sum = 0;
        for (int i = 0; i < h; i++) {
            for (int j = 0; j < w; j++) {
                sum += Math.max(0, 1 - Math.abs(row - i)) * Math.max(0, 1 - Math.abs(column - j)) * map[i * w + j];
            }
        }
        return sum;
    }

    @ParameterizedTest
    @CsvSource({"7, 7, 14, 14", "4, 3, 9, 5", "9, 5, 4, 3", "1, 1, 3, 4", "6, 8, 13, 3", "5, 4, 5, 8", "2, 2, 1, 1"})
    void everyPositionIsInterpolatedBetweenHalfPixelCentres(int h, int w, int height, int width) {
        Tensor maps = maps(h, w, DType.F64);
        double[] from = maps.toDoubles();
        double[] to = resized(maps, height, width).toDoubles();
        for (int map = 0; map < 6; map++) {
            double[] one = Arrays.copyOfRange(from, map * h * w, (map + 1) * h * w);
            for (int i = 0; i < height; i++) {
                for (int j = 0; j < width; j++) {
                    double y = (i + 0.5) * h / height - 0.5;
                    double x = (j + 0.5) * w / width - 0.5;
                    assertThat(to[(map * height + i) * width + j])
                            .as("map %d at %d, %d", map, i, j)
                            .isCloseTo(expected(one, h, w, y, x), within(1e-12));
                }
            }
        }
    }

    /** torch.nn.functional.interpolate(torch.tensor([[[[1., 2.], [3., 4.]]]]), (3, 4), mode="bilinear"). */
    @Test
    void itAgreesWithPyTorch() {
        Tensor map = Tensors.of(new double[] {1, 2, 3, 4}, Shape.of(1, 1, 2, 2), DType.F32);
        assertThat(resized(map, 3, 4).toDoubles())
                .containsExactly(1, 1.25, 1.75, 2, 2, 2.25, 2.75, 3, 3, 3.25, 3.75, 4);
    }

    @ParameterizedTest
    @CsvSource({"3, 4, 7, 5", "7, 5, 3, 4"})
    void gradientsAreCentralDifferences(int h, int w, int height, int width) {
        GradientCheck.Report report = GradientCheck.of(v -> Interpolation.resize(v.getFirst(), height, width))
                .check(maps(h, w, DType.F64));
        assertThat(report.worst()).as("%s", report).isLessThan(1e-7);
        if (height > h) {
            GradientCheck.Report inverse = GradientCheck.of(v -> Interpolation.undoResize(v.getFirst(), h, w))
                    .check(maps(height, width, DType.F64));
            assertThat(inverse.worst()).as("%s", inverse).isLessThan(1e-7);
        }
    }

    @Test
    void whatCannotBeResizedIsRefused() {
        try (Tape tape = Tape.inference()) {
            Var flat = tape.constant(Tensors.zeros(Shape.of(2, 3, 4), DType.F32, Device.CPU));
            assertThatThrownBy(() -> Interpolation.resize(flat, 3, 3))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("[n, c, h, w]", "[2, 3, 4]");
            Var maps = tape.constant(maps(4, 5, DType.F32));
            assertRejected(() -> Interpolation.undoResize(maps, 5, 5), "5×5", "4×5");
            assertRejected(() -> Interpolation.resize(maps, 0, 5), "1");
        }
    }

    /** Constant maps stay constant; Keys' kernel with a = −½ reproduces linear maps, too. */
    @ParameterizedTest
    @CsvSource({"7, 16, true, 0", "16, 7, true, 0", "16, 7, false, 0", "5, 9, false, 0.1", "37, 16, false, 0.1"})
    void bicubicWeightsReproduceSimpleMaps(int from, int to, boolean antialias, double offset) {
        double[] weights = new Interpolation.Bicubic(antialias, offset).weights(from, to);
        double step = from / (to + offset);
        int reach = (int) Math.ceil(2 * Math.max(1, step));
        for (int i = 0; i < to; i++) {
            double sum = 0;
            double mean = 0;
            for (int j = 0; j < from; j++) {
                sum += weights[i * from + j];
                mean += j * weights[i * from + j];
            }
            double place = (i + 0.5) * step - 0.5;
            assertThat(sum).isCloseTo(1, within(1e-12));
            if (antialias && to > from && place > reach && place < from - 1 - reach) {
                assertThat(mean).as("place %d", i).isCloseTo(place, within(1e-12));
            }
        }
    }

    @Test
    void bicubicGradient() {
        Interpolation.Bicubic kernel = new Interpolation.Bicubic(true, 0);
        GradientCheck.Report report = GradientCheck.of(v -> Interpolation.resize(v.getFirst(), 3, 9, kernel))
                .check(maps(5, 4, DType.F64));
        assertThat(report.worst()).isLessThan(1e-6);
    }
}
