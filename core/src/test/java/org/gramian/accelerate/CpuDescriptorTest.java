package org.gramian.accelerate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;
import org.gramian.testing.RelativeError;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link Rule#CPU_DESCRIPTOR}: values and gradients of the plain stages. */
class CpuDescriptorTest {
    private static final String DESCRIPTOR = "rbf/spd:40/relu/triu/root/l2";

    private int threads;

    @BeforeEach
    void useOneThread() {
        threads = Libtorch.load().threads();
        Libtorch.load().setThreads(1);
    }

    @AfterEach
    void restoreThreads() {
        Libtorch.load().setThreads(threads);
    }

    /** Value and gradients of a layer by name, in float64. */
    private static Map<String, Tensor> computed(Layer layer, Tensor features, ParameterSet parameters) {
        Map<String, Tensor> all = new LinkedHashMap<>();
        try (Tape tape = Tape.recording()) {
            Var x = tape.variable(features);
            SequencedMap<String, Var> variables = parameters.variables(tape);
            Var result = layer.apply(x, Bindings.of(variables));
            all.put("value", result.value().copy());
            Tensor upstream = Tensors.gaussian(new SplittableRandom(5), result.shape(), DType.F64);
            variables.put("features", x);
            try (Gradients gradients = tape.backward(result, upstream)) {
                variables.forEach((name, variable) ->
                        all.put("gradient of " + name, gradients.of(variable).copy()));
            }
        }
        return all;
    }

    private static void requireEqual(String text, Tensor features) {
        Pooling plain = Pooling.parse(text);
        Layer fused = Acceleration.rewrite(plain);
        assertThat(fused).isInstanceOf(FusedDescriptor.class);
        try (ParameterSet parameters =
                plain.initialize(features.size(1), new SplittableRandom(2), DType.F64, Device.CPU)) {
            Map<String, Tensor> found = computed(fused, features, parameters);
            computed(plain, features, parameters)
                    .forEach((name, expected) -> assertThat(RelativeError.of(found.get(name), expected))
                            .as("%s of %s for %s", name, text, features)
                            .isLessThan(1e-9));
        }
    }

    private static Tensor features(long... sizes) {
        return Tensors.uniform(new SplittableRandom(sizes[1]), 0, 1, Shape.of(sizes), DType.F64);
    }

    /** 256, 300 and 520 rows are two, three and five blocks, the last one smaller. */
    @ParameterizedTest
    @CsvSource({
        "256, rbf/spd:40/relu/triu/root/l2",
        "300, rbf/spd:290/relu/triu/root/l2",
        "520, rbf/spd:130/triu/root/l2",
        "256, rbf:sigma=4/spd:30/relu/triu/root:eps=0.001/l2",
        "20, conv:256/rbf/spd:30/relu/triu/root/l2/scale"
    })
    void equalsPlainStages(long channels, String text) {
        try (Scope _ = Scope.open()) {
            requireEqual(text, features(3, channels, 4, 5));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void equalsPlainStagesWithEqualMaps(boolean dead) {
        try (Scope _ = Scope.open()) {
            Tensor features = features(2, 260, 3, 3);
            Tensor some = features.slice(1, 3, 9);
            some.copyFrom(dead ? Tensors.zeros(some.shape(), DType.F64, Device.CPU) : features.slice(1, 20, 26));
            requireEqual(DESCRIPTOR, features);
        }
    }

    @Test
    void descriptorIsIndependentOfBatchAndThreads() {
        Pooling plain = Pooling.parse(DESCRIPTOR);
        try (Scope _ = Scope.open();
                ParameterSet parameters = plain.initialize(400, new SplittableRandom(2), DType.F32, Device.CPU)) {
            Tensor maps = features(5, 400, 3, 4).to(DType.F32);
            double[] together = described(plain, maps, parameters);
            Libtorch.load().setThreads(2);
            assertThat(described(plain, maps, parameters)).isEqualTo(together);
            Libtorch.load().setThreads(1);
            int length = together.length / 5;
            for (int i = 0; i < 5; i++) {
                Tensor image = maps.slice(0, i, i + 1).contiguous();
                assertThat(described(plain, image, parameters))
                        .containsExactly(Arrays.copyOfRange(together, i * length, (i + 1) * length));
            }
        }
    }

    private static double[] described(Pooling plain, Tensor maps, ParameterSet parameters) {
        try (Tape tape = Tape.inference()) {
            return Acceleration.rewrite(plain)
                    .apply(tape.constant(maps), Bindings.of(parameters.variables(tape)))
                    .value()
                    .toDoubles();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rbf:sigma=learned/spd:40/triu/root/l2",
                "rbf:gradient=printed/spd:40/triu/root/l2",
                "bilinear/spd:40/triu/root/l2",
                "rbf/spd:40/spd:20/triu/root/l2",
                "rbf/spd:40/triu/root:eps=0/l2",
                "rbf/spd:40/flat/root/l2",
                "rbf/spd:40/triu/l2"
            })
    void leavesOtherPoolingsAsTheyAre(String text) {
        Pooling pooling = Pooling.parse(text);
        assertThat(Acceleration.rewrite(pooling)).isSameAs(pooling);
    }

    @Test
    void computesFewMapsByPlainStages() {
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Var w = tape.variable(Tensors.zeros(Shape.of(255, 20), DType.F64, Device.CPU));
            Var enough = tape.variable(Tensors.zeros(Shape.of(256, 20), DType.F64, Device.CPU));
            Var features = tape.constant(features(1, 300, 2, 2));
            assertThat(CpuDescriptor.isSupported(features, w)).isFalse();
            assertThat(CpuDescriptor.isSupported(features, enough)).isTrue();
            assertThat(CpuDescriptor.isSupported(features, tape.constant(enough.value())))
                    .isFalse(); // inference
        }
    }
}
