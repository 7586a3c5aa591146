package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Single stages: values at kinks, laws, what they refuse and what they warn of. */
@ExtendWith(Scoped.class)
class StagesTest {
    private static final Bindings NONE = Bindings.of(Map.of());

    private static Tensor row(double... values) {
        return Tensors.of(values, Shape.of(1, values.length), DType.F64);
    }

    private static Tensor value(PoolingStage stage, Tensor x) {
        try (Tape tape = Tape.inference()) {
            return stage.apply(tape.constant(x), NONE).value().copy();
        }
    }

    private static double[] slopes(PoolingStage stage, Tensor x) {
        try (Tape tape = Tape.recording()) {
            Var variable = tape.variable(x);
            try (Gradients gradients = tape.backward(stage.apply(variable, NONE).sum())) {
                return gradients.of(variable).toDoubles();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {1e-5, 1e-3, 1, 1e-10})
    void slopeOfRootAtZeroFollowsFromEpsilon(double epsilon) {
        Normalization.Root root = new Normalization.Root(epsilon);
        assertThat(value(root, row(0)).item()).isZero();
        double slope = 1 / (2 * Math.sqrt(epsilon));
        assertThat(slopes(root, row(0))[0]).isCloseTo(slope, Offset.offset(1e-9 * slope));
    }

    @Test
    void authorsSlopeIsHalfOverValuePlusMargin() {
        Normalization.Root root = new Normalization.Root(0, Normalization.Slope.AUTHORS);
        assertThat(value(root, row(-4, 0, 9)).toDoubles()).containsExactly(-2, 0, 3);
        assertThat(slopes(root, row(-4, 0, 9, 1e-4)))
                .containsExactly(new double[] {0.5 / 2.03, 0.5 / 0.03, 0.5 / 3.03, 0.5 / 0.04}, Offset.offset(1e-13));
        Normalization.Root smooth = new Normalization.Root(1e-5, Normalization.Slope.AUTHORS);
        double y = value(smooth, row(0.7)).item();
        assertThat(slopes(smooth, row(0.7))[0]).isCloseTo(0.5 / (y + 0.03), Offset.offset(1e-14));
    }

    @RandomTest
    void rootIsDifferenceOfTwoRoots(Seed seed) {
        double epsilon = Math.pow(10, -seed.random().nextInt(8));
        Tensor v = seed.gaussian(1, 6).mul(3);
        double[] x = v.toDoubles();
        double[] y = value(new Normalization.Root(epsilon), v).toDoubles();
        double[] opposite = value(new Normalization.Root(epsilon), v.mul(-1)).toDoubles();
        for (int i = 0; i < 6; i++) {
            double expected = Math.sqrt(Math.max(x[i], 0) + epsilon) - Math.sqrt(Math.max(-x[i], 0) + epsilon);
            assertThat(y[i]).isCloseTo(expected, Offset.offset(1e-14)).isEqualTo(-opposite[i]);
        }
    }

    @Test
    void l2OfZerosIsZeroWithFiniteGradient() {
        Normalization.L2 l2 = new Normalization.L2();
        assertThat(value(l2, row(0, 0, 0)).toDoubles()).containsOnly(0);
        for (double slope : slopes(l2, row(0, 0, 0))) {
            assertThat(slope).isFinite();
        }
    }

    @RandomTest
    void upperTriangleHasNormOfItsMatrix(Seed seed) {
        SplittableRandom random = seed.random();
        long size = 1L + random.nextInt(6);
        Tensor a = Tensors.gaussian(random, Shape.of(2, size, size), DType.F64);
        Tensor y = a.add(a.transpose());
        Tensor v = value(new Vectorization.Triu(), y);
        assertThat(v.shape()).isEqualTo(Shape.of(2, size * (size + 1) / 2));
        Tensor ofVectors = v.mul(v).sum(1);
        Tensor ofMatrices = y.mul(y).sum(1, 2).reshape(2, 1);
        assertTensor(ofVectors).isCloseTo(ofMatrices, 1e-14);
        Tensor flat = value(new Vectorization.Flat(), y);
        assertThat(flat.toDoubles()).containsExactly(y.toDoubles());
        assertRejected(() -> value(new Vectorization.Triu(), y.slice(2, 0, size - 1)), Shape.of(2, size, size - 1));
    }

    @Test
    void moreRowsThanThereAreIsRefusedWithBothNumbers() {
        Pooling spd = Pooling.parse("rbf/spd:8/triu");
        assertRejected(() -> spd.descriptorSize(7), "spd:8", "7", "spd:7");
        assertRejected(() -> spd.initialize(7, new SplittableRandom(1), DType.F32, Device.CPU), "spd:8");
        assertThat(spd.descriptorSize(8)).isEqualTo(36);
        assertThatThrownBy(() -> Pooling.parse("conv:4/rbf/spd:3/spd:5/triu").descriptorSize(9))
                .hasMessageContaining("spd:5")
                .hasMessageContaining("3");
        assertRejected(() -> Pooling.parse("pca:9/average").descriptorSize(7), "9", "7");
    }

    @ParameterizedTest
    @CsvSource({
        "rbf/spd:7/triu, 1",
        "rbf/spd:7/log/triu, 1",
        "covariance/spd:7/isqrt/spd:7/relu/triu, 1",
        "covariance/spd:7/o2t:4/triu/root, 1",
        "rbf/spd:7/spd:4/relu/triu, 1",
        "rbf/spd:7/spd:7/triu, 2",
        "rbf/spd:7/relu/triu, 0",
        "rbf/spd:7/sqrt/relu/triu, 0",
        "rbf/spd:7/triu/root, 0",
        "rbf/spd:6/triu, 0",
        "conv:7/rbf/spd:6/relu/spd:6/triu, 1",
        "'conv:6/[rbf/spd:6/triu+average]', 1",
        "'conv:6/[rbf/spd:6/triu+average]/root', 0",
        "average, 0"
    })
    void warnsOfRotationWithoutRectifier(String text, int warnings) {
        assertThat(Pooling.parse(text).warnings(7))
                .hasSize(warnings)
                .allSatisfy(warning -> assertThat(warning).contains("rotation", "relu", "spd:"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"rbf", "laplacian:sigma=1", "polynomial:degree=2,scale=1,offset=1", "covariance", "bilinear"})
    void oneChannelOrOnePositionIsTooLittleForKernel(String kernel) {
        Pooling pooling = Pooling.parse(kernel + "/triu");
        try (Tape tape = Tape.inference()) {
            Var oneChannel = tape.constant(Tensors.zeros(Shape.of(2, 1, 3, 3), DType.F32, Device.CPU));
            assertRejected(() -> pooling.apply(oneChannel, NONE), "2", "channels", "1");
            Var onePosition = tape.constant(Tensors.zeros(Shape.of(2, 3, 1, 1), DType.F32, Device.CPU));
            assertRejected(() -> pooling.apply(onePosition, NONE), "2", "positions", "1");
        }
    }

    @Test
    void rejectsWeightsOfOtherChannelsWithBothShapes() {
        try (PoolingTrial trial = PoolingTrial.of("conv:4/rbf/triu")) {
            Tensor eight = Tensors.zeros(Shape.of(1, 8, 3, 3), DType.F64, Device.CPU);
            assertRejected(() -> trial.describe(eight), "F64[4, 7, 1, 1]", "F64[1, 8, 9]", "[4, 8, 1, 1]");
        }
    }

    /** The mean square of each map: a method that Gramian does not know. */
    private record Energy() implements CustomAggregation {
        @Override
        public String text() {
            return "energy";
        }

        @Override
        public long outputs(long channels) {
            return channels;
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Var sums = maps.mul(maps).sum(2);
            return sums.mul(1.0 / maps.shape().at(2))
                    .reshape(maps.shape().at(0), maps.shape().at(1));
        }
    }

    @Test
    void methodOfOnesOwnTakesPartAsAnyOther() {
        Pooling pooling =
                new Pooling(List.of(new Reduction.Conv(4, 0.2)), new Energy(), List.of(new Normalization.Root(1e-5)));
        assertThat(pooling.text()).isEqualTo("conv:4/energy/root");
        assertThat(pooling.descriptorSize(PoolingTrial.CHANNELS)).isEqualTo(4);
        assertThat(pooling.warnings(PoolingTrial.CHANNELS)).isEmpty();
        try (PoolingTrial trial = PoolingTrial.of(pooling)) {
            assertThat(trial.describe(PoolingTrial.features(1)).shape()).isEqualTo(Shape.of(3, 4));
            assertThat(trial.gradients(PoolingTrial.features(1)))
                    .containsOnlyKeys("features", "conv.weight", "conv.bias");
        }
        assertThatThrownBy(() -> Pooling.parse(pooling.text())).hasMessageContaining("'energy'");
    }
}
