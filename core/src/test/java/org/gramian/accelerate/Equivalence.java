package org.gramian.accelerate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.testing.RelativeError;
import org.gramian.testing.SmallIntegers;

/** Comparison of a fused function with plain ones: the value and all gradients. */
final class Equivalence {
    private Equivalence() {}

    /** Inputs on a device, the first ones in the type of feature maps or tokens, the others in that of parameters. */
    static List<Tensor> on(Device device, DType type, int maps, DType parameters, List<Tensor> inputs) {
        return IntStream.range(0, inputs.size())
                .mapToObj(i -> inputs.get(i).to(i < maps ? type : parameters).to(device))
                .toList();
    }

    /**
     * Returns the value and the gradients of the variables among the inputs, in their order, as float64 on the CPU.
     *
     * @param wanted which inputs are variables; none for all
     */
    static List<Tensor> evaluate(Function<List<Var>, Var> function, List<Tensor> inputs, boolean... wanted) {
        try (Tape tape = Tape.recording()) {
            List<Var> variables = new ArrayList<>();
            for (int i = 0; i < inputs.size(); i++) {
                boolean trained = wanted.length == 0 || wanted[i];
                variables.add(trained ? tape.variable(inputs.get(i)) : tape.constant(inputs.get(i)));
            }
            Var y = function.apply(variables);
            Tensor integers = SmallIntegers.draw(new SplittableRandom(7), y.shape()); // exact in every type
            Tensor upstream = integers.to(y.value().type()).to(y.value().device());
            List<Tensor> found = new ArrayList<>(List.of(host(y.value())));
            try (Gradients gradients = tape.backward(y, upstream)) {
                variables.stream().filter(gradients::has).forEach(each -> found.add(host(gradients.of(each))));
            }
            return found;
        }
    }

    private static Tensor host(Tensor tensor) {
        return tensor.to(Device.CPU).copy().to(DType.F64);
    }

    /** Compares norms of differences: near a kink, rounding moves single elements of a gradient from 0 to all of it. */
    static void requireClose(List<Tensor> found, List<Tensor> expected, double tolerance, String what) {
        assertThat(found).as(what).hasSameSizeAs(expected);
        for (int i = 0; i < found.size(); i++) {
            assertThat(RelativeError.ofNorm(found.get(i), expected.get(i)))
                    .as("%s: %s", what, i == 0 ? "value" : "gradient " + i)
                    .isLessThan(tolerance);
        }
    }

    /** Compares a value, and gradients of maps, in bfloat16 with exact ones. */
    static void requireRounded(Tensor found, Tensor exact, String what) {
        assertThat(found.toDoubles())
                .as(what)
                .containsExactly(exact.to(DType.BF16).toDoubles());
    }
}
