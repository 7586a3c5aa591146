package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Normalization;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.spd.SampleMatrices.Defect;
import org.gramian.spd.layer.SpdDescriptors;
import org.gramian.spd.layer.SpdDescriptors.Form;
import org.gramian.spd.layer.SpdTransform;
import org.gramian.spd.layer.Stiefel;
import org.gramian.spd.layer.UpperTriangle;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.tensor.library.Libtorch;
import org.gramian.testing.RelativeError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The fused descriptor equals its stages, in value and gradients. */
@ExtendWith(SingleThreaded.class)
class SpdDescriptorsTest {
    private static final double EPSILON = 1e-3;
    private static final Bindings NONE = Bindings.of(Map.of());

    private static Form form(Sigma sigma, boolean relu) {
        return new Form(new Rbf(sigma, 1e-4), relu, EPSILON, Normalization.L2.SMALLEST_NORM);
    }

    /** Stage by stage. */
    private static Var stages(Var maps, Var weight, Form form) {
        Var y = SpdTransform.apply(form.kernel().apply(maps, NONE), weight);
        Var vector = UpperTriangle.vectorize(form.relu() ? Arithmetic.relu(y) : y);
        return new Normalization.L2().apply(new Normalization.Root(EPSILON).apply(vector, NONE), NONE);
    }

    private interface Computation {
        Var apply(Var maps, Var weight);
    }

    private static Map<String, Tensor> values(Computation computation, Tensor maps, Tensor weight) {
        Map<String, Tensor> values = new LinkedHashMap<>();
        try (Tape tape = Tape.recording()) {
            Var m = tape.variable(maps);
            Var w = tape.variable(weight);
            Var result = computation.apply(m, w);
            values.put("value", Tensors.copy(result.value()));
            Tensor upstream = SampleMatrices.gaussian(
                    SampleMatrices.random(5), result.shape().sizes());
            try (Gradients gradients = tape.backward(result, upstream)) {
                values.put("gradient of maps", Tensors.copy(gradients.of(m)));
                values.put("gradient of weight", Tensors.copy(gradients.of(w)));
            }
        }
        return values;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theGradientsAgreeWithDifferences(boolean relu) {
        try (Scope _ = Scope.open()) {
            RandomGenerator random = SampleMatrices.random(3);
            Tensor maps = SampleMatrices.gaussian(random, 2, 5, 7);
            Tensor w = Stiefel.random(random, Shape.of(5, 4), DType.F64);
            Form form = form(new Sigma.Fixed(3), relu);
            GradientCheck.Report report = GradientCheck.of(x -> SpdDescriptors.apply(x.get(0), x.get(1), form, NONE))
                    .check(maps, w);
            assertThat(report.worst()).as("%s", report).isLessThan(1e-6);
        }
    }

    /** 150 and 300 rows are two and three blocks, the last one smaller. */
    @ParameterizedTest
    @ValueSource(ints = {40, 150, 300})
    void itEqualsItsStages(int channels) {
        RandomGenerator random = SampleMatrices.random(channels);
        try (Scope _ = Scope.open()) {
            Tensor maps = SampleMatrices.gaussian(random, 3, channels, 20);
            Tensor w = Stiefel.random(random, Shape.of(channels, channels - 10), DType.F64);
            for (Form form : List.of(
                    form(new Sigma.Mean(), true), form(new Sigma.Mean(), false), form(new Sigma.Fixed(4), true))) {
                assertEqual(form, maps, w);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Defect.class)
    void itEqualsItsStagesWithDeadAndRepeatedMaps(Defect defect) {
        RandomGenerator random = SampleMatrices.random(11);
        try (Scope _ = Scope.open()) {
            Tensor maps = SampleMatrices.maps(random, defect, 2, 140, 9);
            assertEqual(form(new Sigma.Mean(), true), maps, Stiefel.random(random, Shape.of(140, 30), DType.F64));
        }
    }

    private static void assertEqual(Form form, Tensor maps, Tensor w) {
        Map<String, Tensor> found = values((m, v) -> SpdDescriptors.apply(m, v, form, NONE), maps, w);
        Map<String, Tensor> expected = values((m, v) -> stages(m, v, form), maps, w);
        expected.forEach((name, value) -> assertThat(RelativeError.of(found.get(name), value))
                .as("%s of %s for %s", name, form, maps)
                .isLessThan(1e-9));
    }

    @Test
    void anImageDoesNotDependOnItsBatchNorOnTheThreads() {
        RandomGenerator random = SampleMatrices.random(7);
        try (Scope _ = Scope.open()) {
            Tensor maps = Tensors.to(SampleMatrices.gaussian(random, 5, 200, 12), DType.F32);
            Tensor w = Stiefel.random(random, Shape.of(200, 64), DType.F32);
            double[] together = described(maps, w);
            Libtorch.load().setThreads(2);
            assertThat(described(maps, w)).isEqualTo(together);
            Libtorch.load().setThreads(1);
            int length = together.length / 5;
            for (int i = 0; i < 5; i++) {
                double[] alone = described(Views.contiguous(Views.slice(maps, 0, i, i + 1)), w);
                assertThat(alone).containsExactly(Arrays.copyOfRange(together, i * length, (i + 1) * length));
            }
        }
    }

    private static double[] described(Tensor maps, Tensor w) {
        try (Tape tape = Tape.inference()) {
            Form form = form(new Sigma.Mean(), true);
            return SpdDescriptors.apply(tape.constant(maps), tape.constant(w), form, NONE)
                    .value()
                    .toDoubles();
        }
    }

    @Test
    void everyTensorIsFreed() {
        RandomGenerator random = SampleMatrices.random(9);
        try (Scope _ = Scope.open()) {
            Tensor maps = SampleMatrices.gaussian(random, 3, 6, 5);
            Tensor w = Stiefel.random(random, Shape.of(6, 3), DType.F64);
            Form form = form(new Sigma.Mean(), true);
            Computation fused = (m, v) -> SpdDescriptors.apply(m, v, form, NONE);
            assertThat(values(fused, maps, w)).hasSize(3); // keeps the layout of the triangle
            long before = Tensor.live();
            try (Scope _ = Scope.open()) {
                assertThat(values(fused, maps, w)).hasSize(3);
            }
            assertThat(Tensor.live()).isEqualTo(before);
        }
    }

    @Test
    void onlyConstantWidthsOfTheRightShapesAreComputed() {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Var maps = tape.constant(SampleMatrices.gaussian(SampleMatrices.random(1), 2, 400, 5));
            Var w = tape.constant(SampleMatrices.gaussian(SampleMatrices.random(2), 400, 20));
            Var wide = tape.constant(SampleMatrices.gaussian(SampleMatrices.random(2), 20, 400));
            assertThat(SpdDescriptors.suit(maps, w, new Rbf(new Sigma.Mean(), 1e-4)))
                    .isTrue();
            assertThat(SpdDescriptors.suit(maps, w, new Rbf(new Sigma.Learned(), 1e-4)))
                    .isFalse();
            assertThat(SpdDescriptors.suit(maps, w, new Rbf(new Sigma.Mean(), 1e-4, Backward.PRINTED)))
                    .isFalse();
            assertThat(SpdDescriptors.suit(maps, w, new Kernel.Bilinear(1e-4))).isFalse();
            assertThat(SpdDescriptors.suit(maps, wide, new Rbf(new Sigma.Mean(), 1e-4)))
                    .isFalse();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> SpdDescriptors.apply(maps, wide, form(new Sigma.Mean(), true), NONE))
                    .withMessageContaining("[20, 400]");
        }
    }
}
