package org.gramian.autodiff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.LeakFree;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(LeakFree.class)
@ExtendWith(Scoped.class)
class ParametersTest {
    private static final ParameterSpec WEIGHT =
            new ParameterSpec("weight", Shape.of(2, 2), Role.WEIGHT, Tensors::gaussian);
    private static final ParameterSpec FITTED =
            new ParameterSpec("fitted", Shape.of(2), Role.FITTED, Tensors::gaussian);

    private static ParameterSet parameters() {
        return ParameterSet.initialize(
                List.of(WEIGHT.under("a"), FITTED), new SplittableRandom(1), DType.F64, Device.CPU);
    }

    @Test
    void parametersOutliveScopeTheyWereMadeIn() {
        ParameterSet set;
        try (Scope _ = Scope.open()) {
            set = parameters();
        }
        try (set) {
            assertThat(set.get("a.weight").value().toDoubles()).hasSize(4);
        }
    }

    @Test
    void onlyWhatTrainingMovesAsksForGradient() {
        try (ParameterSet set = parameters();
                Tape tape = Tape.recording()) {
            Map<String, Var> variables = set.variables(tape);
            Bindings bindings = Bindings.of(variables);
            assertThat(bindings.under("a").get("weight").wantsGradient()).isTrue();
            assertThat(bindings.get("fitted").wantsGradient()).isFalse();
            assertRejected(() -> bindings.under("a").get("bias"), "a.bias", "[a.weight, fitted]");
        }
    }

    @Test
    void assigningConvertsTypeAndCopies() {
        try (ParameterSet set = parameters()) {
            Tensor given = Tensors.full(3, Shape.of(2, 2), DType.F32, Device.CPU);
            set.assign(Map.of("a.weight", given));
            given.fill(0);
            assertThat(set.get("a.weight").value().type()).isEqualTo(DType.F64);
            assertThat(set.get("a.weight").value().toDoubles()).containsOnly(3);
        }
    }

    @Test
    void wrongNameOrShapeIsRefusedAndNothingLeaks() {
        try (ParameterSet set = parameters()) {
            assertRejected(
                    () -> set.assign(Map.of("b.weight", Tensors.zeros(Shape.of(2, 2), DType.F64, Device.CPU))),
                    "'b.weight'",
                    "a.weight");
            assertRejected(
                    () -> set.assign(Map.of("a.weight", Tensors.zeros(Shape.of(3), DType.F64, Device.CPU))),
                    "a.weight",
                    "[2, 2]",
                    "F64[3]");
            assertThat(set.get("a.weight").value().toDoubles()).hasSize(4);
        }
    }

    @Test
    void setThatCannotBeMadeLeavesNothing() {
        ParameterSpec failing = new ParameterSpec("b", Shape.of(1), Role.WEIGHT, (random, shape, type) -> {
            throw new IllegalStateException("no first value");
        });
        assertThatThrownBy(() -> ParameterSet.initialize(
                        List.of(WEIGHT, failing), new SplittableRandom(1), DType.F64, Device.CPU))
                .hasMessage("no first value");
        assertThatThrownBy(() -> ParameterSet.initialize(
                        List.of(WEIGHT, WEIGHT), new SplittableRandom(1), DType.F64, Device.CPU))
                .has(facts("weight"));
    }
}
