package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;

import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.spd.layer.TensorSketching;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SingleThreaded.class)
class TensorSketchingTest {
    private static TensorSketching drawn(RandomGenerator random, int size, int rows) {
        return new TensorSketching(
                size,
                random.ints(2L * rows, 0, size).boxed().toList(),
                random.ints(2L * rows, 0, 2).mapToObj(bit -> 2 * bit - 1).toList());
    }

    private static Tensor sketch(TensorSketching sketching, Tensor matrices) {
        try (Tape tape = Tape.inference()) {
            return sketching.apply(tape.constant(matrices)).value().copy();
        }
    }

    /** The definition, element by element. */
    private static double[] definition(TensorSketching sketching, double[][] matrix) {
        double[] v = new double[sketching.size()];
        int rows = matrix.length;
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < rows; j++) {
                int bin = (sketching.bins().get(i) + sketching.bins().get(rows + j)) % sketching.size();
                v[bin] += sketching.signs().get(i) * sketching.signs().get(rows + j) * matrix[i][j];
            }
        }
        return v;
    }

    @RandomTest
    void everyElementIsAddedToItsBin(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        int rows = 1 + random.nextInt(7);
        TensorSketching sketching = drawn(random, 1 + random.nextInt(20), rows);
        try (Scope _ = Scope.open()) {
            Tensor k = SampleMatrices.gaussian(random, 2, rows, rows); // not symmetric: each element counts by itself
            double[] found = sketch(sketching, k).toDoubles();
            for (int image = 0; image < 2; image++) {
                int from = image * sketching.size();
                double[] expected = definition(sketching, SampleMatrices.rows(k, image));
                for (int bin = 0; bin < sketching.size(); bin++) {
                    assertThat(found[from + bin]).as("%s, %s", sketching, seed).isCloseTo(expected[bin], within(1e-13));
                }
            }
        }
    }

    /** More sketches in turn than layouts are kept: what is dropped on the way must not be missed on the way back. */
    @Test
    void droppedLayoutsStayValidWhileInUse() {
        RandomGenerator random = SampleMatrices.random(5);
        List<TensorSketching> many =
                IntStream.range(0, 12).mapToObj(_ -> drawn(random, 6, 4)).toList();
        long kept;
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Var k = tape.variable(SampleMatrices.gaussian(random, 1, 4, 4));
            Var first = many.getFirst().apply(k);
            many.subList(1, 12).forEach(sketching -> sketch(sketching, k.value()));
            Tensor g = SampleMatrices.gaussian(random, 1, 6);
            double[] upstream = g.toDoubles();
            try (Gradients gradients = tape.backward(first, g)) {
                double[] found = gradients.of(k).toDoubles();
                for (int i = 0; i < 4; i++) {
                    for (int j = 0; j < 4; j++) {
                        TensorSketching s = many.getFirst();
                        int bin = (s.bins().get(i) + s.bins().get(4 + j)) % 6;
                        assertThat(found[4 * i + j])
                                .isEqualTo(s.signs().get(i) * s.signs().get(4 + j) * upstream[bin]);
                    }
                }
            }
        }
        kept = Tensor.live();
        try (Scope _ = Scope.open()) {
            Tensor k = SampleMatrices.gaussian(random, 1, 4, 4);
            many.forEach(sketching -> sketch(sketching, k));
        }
        assertThat(Tensor.live()).isEqualTo(kept);
    }

    @Test
    void numbersThatAreNoBinsOrSignsAreRefused() {
        try (Scope _ = Scope.open()) {
            Tensor signs = Tensors.of(new double[] {1, -1, 1, 1}, Shape.of(2, 2), DType.F64);
            for (double wrong : new double[] {-1, 8, 0.5, Double.NaN}) {
                Tensor bins = Tensors.of(new double[] {0, 1, wrong, 7}, Shape.of(2, 2), DType.F64);
                assertRejected(() -> TensorSketching.of(8, bins, signs), "" + wrong);
                assertThatThrownBy(() -> TensorSketching.of(8, signs, bins)).hasMessageContaining("sketch");
            }
            assertThatThrownBy(() -> sketch(drawn(SampleMatrices.random(1), 4, 3), signs.copy()))
                    .hasMessageContaining("[n, 3, 3]");
        }
    }
}
