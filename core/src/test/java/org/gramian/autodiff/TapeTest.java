package org.gramian.autodiff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.gramian.autodiff.Result.Adjoint;
import org.gramian.autodiff.network.Classification;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.LeakFree;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(LeakFree.class)
@ExtendWith(Scoped.class)
class TapeTest {
    /** The gradient of {@code ⟨upstream, f(x)⟩}, as a tensor of this test's scope. */
    private static Tensor gradient(UnaryOperator<Var> function, Tensor x, Tensor upstream) {
        try (Tape tape = Tape.recording()) {
            Var variable = tape.variable(x);
            try (Gradients gradients = tape.backward(function.apply(variable), upstream)) {
                return gradients.of(variable).copy();
            }
        }
    }

    private static Var smooth(Var x) {
        return x.mul(0.3).exp().mul(x.add(1));
    }

    @RandomTest
    void gradientsAreLinearInUpstream(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = Tensors.gaussian(random, Shape.of(2, 3), DType.F64);
        Tensor g = Tensors.gaussian(random, Shape.of(2, 3), DType.F64);
        Tensor h = Tensors.gaussian(random, Shape.of(2, 3), DType.F64);
        Tensor ofSum = gradient(TapeTest::smooth, x, g.addScaled(h, -2));
        Tensor sum = gradient(TapeTest::smooth, x, g).addScaled(gradient(TapeTest::smooth, x, h), -2);
        assertTensor(ofSum).isCloseTo(sum, 1e-14);
    }

    @RandomTest
    void variableUsedSeveralTimesCollectsAllItsGradients(Seed seed) {
        Tensor x = seed.gaussian(4);
        Tensor one = Tensors.full(1, Shape.of(4), DType.F64, x.device());
        assertTensor(gradient(v -> v.add(v), x, one)).isCloseTo(one.mul(2), 0);
        assertTensor(gradient(v -> v.mul(v), x, one)).isCloseTo(x.mul(2), 1e-15);
        assertTensor(gradient(v -> v.mul(v).mul(v), x, one)).isCloseTo(x.mul(x).mul(3), 1e-15);
        assertTensor(gradient(v -> v.sub(v), x, one)).isCloseTo(one.mul(0), 0);
        assertTensor(gradient(v -> v.div(v), x, one)).isCloseTo(one.mul(0), 1e-12);
        assertTensor(gradient(v -> Var.concat(List.of(v, v, v), 0).slice(0, 2, 9), x, ones(7)))
                .isCloseTo(Tensors.of(new double[] {2, 1, 2, 2}, Shape.of(4), DType.F64), 0);
    }

    private static Tensor ones(long length) {
        return Tensors.full(1, Shape.of(length), DType.F64, Device.CPU);
    }

    /** One tensor may be the gradient of several inputs, among them the same variable twice. */
    @Test
    void adjointMayAnswerWithOneTensorForAllInputs() {
        try (Tape tape = Tape.recording()) {
            Var x = tape.variable(ones(2));
            Var z = tape.variable(ones(2));
            Var y = tape.apply(
                    List.of(x, x, z),
                    () -> Result.of(x.value().mul(9), (g, wanted) -> {
                        Tensor thrice = g.mul(3);
                        return Adjoint.list(thrice, thrice, thrice);
                    }));
            try (Gradients gradients = tape.backward(y.sum())) {
                assertThat(gradients.of(x).toDoubles()).containsExactly(6, 6);
                assertThat(gradients.of(z).toDoubles()).containsExactly(3, 3);
            }
        }
    }

    @Test
    void tapeIsReadBackwardsOnce() {
        try (Tape tape = Tape.recording()) {
            Var loss = tape.variable(ones(2)).sum();
            tape.backward(loss).close();
            assertRejected(IllegalStateException.class, () -> tape.backward(loss));
        }
    }

    @Test
    void upstreamMustFitResult() {
        try (Tape tape = Tape.recording()) {
            Var y = tape.variable(ones(2)).exp();
            assertRejected(() -> tape.backward(y), "F64[2]");
            assertRejected(() -> tape.backward(y, ones(3)), "F64[2]", "F64[3]");
            assertThatThrownBy(() -> tape.backward(y, ones(2).to(DType.F32))).has(facts("F32[2]"));
        }
    }

    @Test
    void variablesOfTwoTapesDoNotMix() {
        try (Tape first = Tape.recording();
                Tape second = Tape.recording()) {
            Var a = first.variable(ones(2));
            Var b = second.variable(ones(2));
            assertRejected(() -> a.add(b), "tape");
        }
    }

    @Test
    void inferenceTapeKeepsValuesOnly() {
        try (Tape tape = Tape.inference()) {
            Var x = tape.variable(ones(4));
            long held = Tensor.live();
            Var y = tape.apply(List.of(x), () -> {
                Tensor saved = x.value().exp();
                return Result.of(
                        saved.mul(2),
                        (g, wanted) -> {
                            throw new AssertionError("nothing goes backwards here");
                        },
                        saved);
            });
            assertThat(y.wantsGradient()).isFalse();
            assertThat(Tensor.live()).isEqualTo(held + 1);
        }
    }

    @Test
    void tapeFreesItsValuesButNotThoseItWasGiven() {
        Tensor x = ones(2);
        Var y;
        try (Tape tape = Tape.recording()) {
            y = tape.variable(x).exp();
        }
        assertThat(x.toDoubles()).containsExactly(1, 1);
        assertRejected(IllegalStateException.class, () -> y.value().toDoubles());
    }

    @Test
    void adjointOfWrongShapeIsFound() {
        try (Tape tape = Tape.recording()) {
            Var x = tape.variable(ones(2));
            Var y = tape.apply(List.of(x), () -> Result.of(x.value().exp(), (g, wanted) -> Adjoint.list(ones(3))));
            assertRejected(IllegalStateException.class, () -> tape.backward(y.sum()), "F64[3]", "[2]");
        }
    }

    @RandomTest(times = 200)
    void randomGraphsLeaveNothingInMemory(Seed seed) {
        SplittableRandom random = seed.random();
        try (Tape tape = Tape.recording()) {
            List<Var> variables = new ArrayList<>();
            variables.add(tape.variable(Tensors.gaussian(random, Shape.of(3, 3), DType.F64)));
            variables.add(tape.constant(Tensors.gaussian(random, Shape.of(3, 3), DType.F64)));
            for (int i = random.nextInt(12); i >= 0; i--) {
                variables.add(step(random, variables));
            }
            Var last = variables.getLast();
            if (last.wantsGradient()) {
                try (Gradients gradients = tape.backward(last.sum())) {
                    assertThat(gradients.of(variables.getFirst()).shape()).isEqualTo(Shape.of(3, 3));
                }
            }
        } // what is left is counted after each run
    }

    private static Var step(SplittableRandom random, List<Var> variables) {
        Var a = variables.get(random.nextInt(variables.size()));
        Var b = variables.get(random.nextInt(variables.size()));
        return switch (random.nextInt(9)) {
            case 0 -> a.add(b);
            case 1 -> a.mul(b);
            case 2 -> a.matmul(b);
            case 3 -> a.relu();
            case 4 -> Classification.softmax(a);
            case 5 -> a.transpose(0, 1);
            case 6 -> Var.concat(List.of(a, b, a), 0).slice(0, 2, 5);
            case 7 -> a.add(1);
            default -> a.sum(0).add(b).reshape(3, 3);
        };
    }

    @Test
    void exceptionInFunctionOrAdjointLeaksNothing() {
        try (Tape tape = Tape.recording()) {
            Var x = tape.variable(ones(2));
            assertThatThrownBy(() -> tape.apply(List.of(x), () -> {
                        x.value().exp();
                        throw new IllegalStateException("on the way there");
                    }))
                    .hasMessage("on the way there");
            Var y = tape.apply(
                    List.of(x),
                    () -> Result.of(x.value().exp(), (g, wanted) -> {
                        g.exp();
                        throw new IllegalStateException("on the way back");
                    }));
            Var z = y.mul(x).add(x.exp());
            assertThatThrownBy(() -> tape.backward(z.sum())).hasMessage("on the way back");
        }
    }

    @Test
    void whatWasComputedSinceMarkIsFreedExceptOneValue() {
        try (Tape tape = Tape.inference()) {
            Var earlier = tape.constant(ones(2)).exp();
            int mark = tape.mark();
            Var onTheWay = earlier.exp();
            Var kept = onTheWay.exp();
            tape.keepOnly(kept, mark);
            assertThat(kept.value().toDoubles()).hasSize(2);
            assertThat(earlier.value().toDoubles()).hasSize(2);
            assertRejected(IllegalStateException.class, () -> onTheWay.value().toDoubles());
            tape.keepOnly(kept, tape.mark());
            assertThat(kept.value().toDoubles()).hasSize(2);
        }
    }

    @Test
    void whatGradientMayNeedIsNotFreed() {
        try (Tape tape = Tape.recording()) {
            Var x = tape.variable(ones(2));
            int mark = tape.mark();
            Var factor = tape.constant(ones(2)).exp();
            Var y = x.mul(factor);
            tape.keepOnly(y, mark);
            try (Gradients gradients = tape.backward(y.sum())) {
                assertThat(gradients.of(x).toDoubles()).containsOnly(Math.E);
            }
        }
    }

    @Test
    void runsHookOnceWhenGradientIsFinal() {
        List<String> calls = new ArrayList<>();
        try (Tape tape = Tape.recording()) {
            Var x = tape.variable(Tensors.full(2, Shape.of(3), DType.F64, Device.CPU));
            Var unused = tape.variable(Tensors.full(2, Shape.of(3), DType.F64, Device.CPU));
            tape.hook(x, gradient -> calls.add(gradient == null ? "none" : "x " + gradient.toDoubles()[0]));
            tape.hook(unused, gradient -> calls.add(gradient == null ? "unused" : "wrong"));
            Var first = x.mul(x);
            Var y = tape.apply(
                    List.of(x),
                    () -> Result.of(x.value().mul(5), (g, _) -> {
                        Tensor gradient = g.mul(5);
                        tape.finished(x, gradient); // not yet: two more uses
                        calls.add("adjoint");
                        return Adjoint.list(gradient);
                    }));
            Var sum = first.add(y);
            try (Gradients gradients = tape.backward(sum, Tensors.full(1, Shape.of(3), DType.F64, Device.CPU))) {
                assertThat(gradients.of(x).toDoubles()).containsExactly(9, 9, 9);
                assertThat(gradients.has(unused)).isFalse();
            }
        }
        assertThat(calls).containsExactly("adjoint", "x 9.0", "unused");
    }

    @Test
    void runsHookOfFinishedGradientInsideAdjoint() {
        List<String> calls = new ArrayList<>();
        try (Tape tape = Tape.recording()) {
            Var x = tape.variable(Tensors.full(2, Shape.of(3), DType.F64, Device.CPU));
            tape.hook(x, gradient -> calls.add("hook"));
            Var y = tape.apply(
                    List.of(x),
                    () -> Result.of(x.value().mul(5), (g, _) -> {
                        Tensor gradient = g.mul(5);
                        tape.finished(x, gradient);
                        calls.add("adjoint");
                        return Adjoint.list(gradient);
                    }));
            tape.backward(y, Tensors.full(1, Shape.of(3), DType.F64, Device.CPU))
                    .close();
        }
        assertThat(calls).containsExactly("hook", "adjoint");
    }
}
