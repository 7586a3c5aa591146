package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.SplittableRandom;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.Convolution.Window.Pair;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class WindowTest {
    static Window window(SplittableRandom random) {
        Pair size = new Pair(1 + random.nextInt(4), 1 + random.nextInt(4));
        Pair stride = new Pair(1 + random.nextInt(3), 1 + random.nextInt(3));
        Pair padding = new Pair(random.nextInt(size.vertical() / 2 + 1), random.nextInt(size.horizontal() / 2 + 1));
        return new Window(size, stride, padding, random.nextBoolean());
    }

    /** Number of windows: rounded up on request, but none may begin in the padding at the far end. */
    private static int count(long length, int size, int stride, int padding, boolean ceil) {
        int span = (int) length + 2 * padding - size;
        int count = (ceil ? Math.ceilDiv(span, stride) : span / stride) + 1;
        return ceil && (count - 1L) * stride >= length + padding ? count - 1 : count;
    }

    private static Shape outputs(Window w, Shape x) {
        return x.with(
                        2,
                        count(
                                x.at(2),
                                w.size().vertical(),
                                w.stride().vertical(),
                                w.padding().vertical(),
                                w.ceil()))
                .with(
                        3,
                        count(
                                x.at(3),
                                w.size().horizontal(),
                                w.stride().horizontal(),
                                w.padding().horizontal(),
                                w.ceil()));
    }

    @RandomTest(times = 40)
    void maximaAreTheirLoops(Seed seed) {
        SplittableRandom random = seed.random();
        Window w = window(random);
        Tensor input = Tensors.gaussian(random, Shape.of(2, 2, 4 + random.nextInt(4), 5), DType.F64);
        Grid x = Grid.of(input);
        Grid expected = Grid.make(outputs(w, input.shape()), place -> {
            double largest = Double.NEGATIVE_INFINITY;
            for (int i = 0; i < w.size().vertical(); i++) {
                for (int j = 0; j < w.size().horizontal(); j++) {
                    int row = place[2] * w.stride().vertical() + i - w.padding().vertical();
                    int column =
                            place[3] * w.stride().horizontal() + j - w.padding().horizontal();
                    if (row >= 0 && row < input.size(2) && column >= 0 && column < input.size(3)) {
                        largest = Math.max(largest, x.at(place[0], place[1], row, column));
                    }
                }
            }
            return largest;
        });
        assertTensor(w.max(input).values()).as("%s of %s", w, input).isCloseTo(expected, 0);
    }

    /** What lies in the padding counts as zeros; what lies beyond it, under rounding up, does not count. */
    @RandomTest(times = 40)
    void meansAreTheirLoops(Seed seed) {
        SplittableRandom random = seed.random();
        Window w = window(random);
        Tensor input = Tensors.gaussian(random, Shape.of(2, 2, 4 + random.nextInt(4), 5), DType.F64);
        Grid x = Grid.of(input);
        Grid expected = Grid.make(outputs(w, input.shape()), place -> {
            double sum = 0;
            int counted = 0;
            for (int i = 0; i < w.size().vertical(); i++) {
                for (int j = 0; j < w.size().horizontal(); j++) {
                    int row = place[2] * w.stride().vertical() + i - w.padding().vertical();
                    int column =
                            place[3] * w.stride().horizontal() + j - w.padding().horizontal();
                    sum += x.atOrZero(place[0], place[1], row, column);
                    boolean within = row < input.size(2) + w.padding().vertical()
                            && column < input.size(3) + w.padding().horizontal();
                    counted += within ? 1 : 0;
                }
            }
            return sum / counted;
        });
        assertTensor(w.average(input)).as("%s of %s", w, input).isCloseTo(expected, 1e-14);
    }

    @Test
    void windowThatDoesNotFitIsRefused() {
        Tensor input = Tensors.zeros(Shape.of(1, 1, 3, 3), DType.F32, Device.CPU);
        assertRejected(() -> Window.of(4, 1).max(input), "pooling", "F32[1, 1, 3, 3]");
        assertRejected(() -> Window.of(3, 1).padded(2, 0).average(input), "pooling");
        assertThatThrownBy(() -> Window.of(2, 2).max(Tensors.zeros(Shape.of(3, 3), DType.F32, Device.CPU)))
                .has(facts("4", "F32[3, 3]"));
        assertRejected(() -> Window.of(0, 1));
        assertThatThrownBy(() -> Window.of(2, 0)).hasMessageContaining("stride");
    }
}
