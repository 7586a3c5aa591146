package org.gramian.research;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Tape;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MatchingLossesTest {
    private static final Shape MAPS = Shape.of(2, 5, 3, 2);

    private final long before = Tensor.live();
    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void nothingIsLeft() {
        scope.close();
        assertThat(Tensor.live()).as("live tensors").isEqualTo(before);
    }

    private static Tensor gaussian(SplittableRandom random, Shape shape) {
        return Tensors.gaussian(random, shape, DType.F64);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void gradientsOfFeatureMatchingAreCentralDifferences(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Tensor teacher = gaussian(random, MAPS);
        Tensor student = gaussian(random, MAPS).mul(2);
        GradientCheck check = GradientCheck.of(inputs -> MatchingLosses.features(inputs.getFirst(), teacher));
        assertThat(check.check(student).worst()).isLessThan(1e-6);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void gradientsOfGramMatchingAreCentralDifferences(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Tensor teacher = gaussian(random, MAPS);
        Tensor student = gaussian(random, MAPS);
        GradientCheck distance = GradientCheck.of(inputs -> MatchingLosses.grams(inputs.getFirst(), teacher));
        assertThat(distance.check(student).worst()).isLessThan(1e-6);
        GradientCheck cosine = GradientCheck.of(inputs -> MatchingLosses.gramCosines(inputs.getFirst(), teacher));
        assertThat(cosine.check(student).worst()).isLessThan(1e-6);
    }

    /** By its definition on Gram matrices; the size of the student's maps does not matter, and 0 is the least. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void theCosineLossComparesDirectionsOfGramMatrices(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Tensor student = gaussian(random, MAPS);
        Tensor teacher = gaussian(random, MAPS);
        double expected = 1;
        for (int i = 0; i < 2; i++) {
            Tensor a = gram(student, i);
            Tensor b = gram(teacher, i);
            expected -= a.mul(b).sum().toDoubles()[0] / norm(a) / norm(b) / 2;
        }
        try (Tape tape = Tape.inference()) {
            for (double factor : new double[] {1, 0.01}) {
                Tensor scaled = student.mul(factor);
                assertThat(MatchingLosses.gramCosines(tape.constant(scaled), teacher)
                                .value()
                                .toDoubles()[0])
                        .isCloseTo(expected, Offset.offset(1e-9));
            }
            assertThat(MatchingLosses.gramCosines(tape.constant(teacher.mul(3)), teacher)
                            .value()
                            .toDoubles()[0])
                    .isCloseTo(0, Offset.offset(1e-12));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void gradientsOfLogitMatchingAreCentralDifferences(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Tensor teacher = gaussian(random, Shape.of(3, 4));
        GradientCheck check = GradientCheck.of(inputs -> MatchingLosses.logits(inputs.getFirst(), teacher, 2.5));
        assertThat(check.check(gaussian(random, Shape.of(3, 4))).worst()).isLessThan(1e-6);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void theGramLossIsTheRelativeDistanceOfGramMatrices(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Tensor student = gaussian(random, MAPS);
        Tensor teacher = gaussian(random, MAPS);
        double expected = 0;
        for (int i = 0; i < 2; i++) {
            Tensor a = gram(student, i);
            Tensor b = gram(teacher, i);
            expected += norm(a.sub(b)) / norm(b) / 2;
        }
        try (Tape tape = Tape.inference()) {
            double found = MatchingLosses.grams(tape.constant(student), teacher)
                    .value()
                    .item();
            assertThat(found).isCloseTo(expected, Offset.offset(1e-5)); // 1e-6 under the root
        }
    }

    private static Tensor gram(Tensor maps, int image) {
        Tensor columns = maps.slice(0, image, image + 1L).reshape(5, 6);
        return columns.matmul(columns.transpose()).mul(1.0 / 6);
    }

    private static double norm(Tensor matrix) {
        double sum = 0;
        for (double value : matrix.toDoubles()) {
            sum += value * value;
        }
        return Math.sqrt(sum);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void smoothL1IsSquaredNearZeroAndLinearFarFromIt(long seed) {
        Tensor student =
                gaussian(new SplittableRandom(seed), Shape.of(2, 3, 2, 2)).mul(2);
        Tensor teacher = Tensors.zeros(student.shape(), DType.F64, Device.CPU);
        double smooth = 0;
        for (double d : student.toDoubles()) {
            smooth += (Math.abs(d) <= 1 ? d * d / 2 : Math.abs(d) - 0.5) / 24;
        }
        try (Tape tape = Tape.inference()) {
            assertThat(MatchingLosses.features(tape.constant(student), teacher)
                            .value()
                            .item())
                    .isCloseTo(smooth, Offset.offset(1e-12));
        }
    }

    @Test
    void otherShapesAreRefused() {
        Tensor maps = Tensors.zeros(MAPS, DType.F64, Device.CPU);
        Tensor other = Tensors.zeros(Shape.of(2, 4, 3, 2), DType.F64, Device.CPU);
        try (Tape tape = Tape.inference()) {
            assertThatThrownBy(() -> MatchingLosses.grams(tape.constant(maps), other))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("Gram", "F64[2, 5, 3, 2]", "F64[2, 4, 3, 2]");
        }
    }
}
