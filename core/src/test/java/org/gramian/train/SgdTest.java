package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.spd.SingleThreaded;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SingleThreaded.class)
class SgdTest {
    @RandomTest(times = 8)
    void fiftyStepsMatchPlainArithmetic(Seed seed) {
        Sgd options = new Sgd(0.05, 0.9, 0.01, StiefelOptions.defaults());
        SplittableRandom random = seed.random();
        try (Scope _ = Scope.open();
                Parameter weight = parameter("weight", Role.WEIGHT, random);
                Optimizer sgd = new Optimizer(options)) {
            double[] w = weight.value().toDoubles();
            double[] v = new double[w.length];
            for (int step = 0; step < 50; step++) {
                double rate = 0.05 / (1 + step % 7);
                sgd.setLearningRate(rate);
                double[] g = random.doubles(w.length, -1, 1).toArray();
                sgd.step(weight, Tensors.of(g, Shape.of(2, 3), DType.F64));
                for (int i = 0; i < w.length; i++) {
                    v[i] = 0.9 * v[i] + (g[i] + 0.01 * w[i]);
                    w[i] -= rate * v[i];
                }
                assertThat(weight.value().toDoubles())
                        .as("step %d, %s", step, seed)
                        .containsExactly(w, within(1e-13));
            }
        }
    }

    /** Captured steps write to it, also without momentum. */
    @Test
    void aStepWithoutMomentumLeavesAVelocityOpen() {
        SplittableRandom random = new SplittableRandom(1);
        try (Scope _ = Scope.open();
                Parameter weight = parameter("weight", Role.WEIGHT, random);
                Parameter stiefel = stiefel(random);
                Optimizer sgd = new Optimizer(new Sgd(0.5, 0, 0, StiefelOptions.defaults()))) {
            for (Parameter parameter : List.of(weight, stiefel)) {
                Tensor velocity = zeros(parameter);
                sgd.setState(parameter, Sgd.VELOCITY, velocity);
                sgd.step(parameter, zeros(parameter));
                assertThat(sgd.state(parameter, Sgd.VELOCITY)).isSameAs(velocity);
                assertThat(velocity.toDoubles()).containsOnly(0);
            }
        }
    }

    @Test
    void parametersWithoutGradientStay() {
        List<ParameterSpec> specs =
                List.of(spec("used", Role.WEIGHT), spec("unused", Role.WEIGHT), spec("fitted", Role.FITTED));
        try (Scope _ = Scope.open();
                ParameterSet parameters =
                        ParameterSet.initialize(specs, new SplittableRandom(4), DType.F64, Device.CPU);
                Optimizer sgd = new Optimizer(Sgd.defaults(0.1))) {
            double[] used = values(parameters, "used");
            double[] unused = values(parameters, "unused");
            double[] fitted = values(parameters, "fitted");
            for (int step = 0; step < 3; step++) {
                try (Tape tape = Tape.recording()) {
                    Map<String, Var> variables = parameters.variables(tape);
                    Var product = Objects.requireNonNull(variables.get("used"))
                            .mul(Objects.requireNonNull(variables.get("fitted")));
                    try (Gradients gradients = tape.backward(product.sum())) {
                        sgd.step(parameters, variables, gradients);
                    }
                }
            }
            assertThat(values(parameters, "used")).isNotEqualTo(used);
            assertThat(values(parameters, "unused")).containsExactly(unused);
            assertThat(values(parameters, "fitted")).containsExactly(fitted);
        }
    }

    private static double[] values(ParameterSet parameters, String name) {
        return parameters.get(name).value().toDoubles();
    }

    private static Tensor zeros(Parameter parameter) {
        return Tensors.zeros(parameter.value().shape(), DType.F64, Device.CPU);
    }

    private static ParameterSpec spec(String name, Role role) {
        return new ParameterSpec(name, Shape.of(2, 3), role, Tensors::gaussian);
    }

    private static Parameter parameter(String name, Role role, SplittableRandom random) {
        return new Parameter(spec(name, role), Tensors.gaussian(random, Shape.of(2, 3), DType.F64));
    }

    private static Parameter stiefel(SplittableRandom random) {
        Shape shape = Shape.of(4, 2);
        return new Parameter(
                new ParameterSpec("stiefel", shape, Role.STIEFEL, Stiefel::random),
                Stiefel.random(random, shape, DType.F64));
    }
}
