package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.spd.SingleThreaded;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Optimizer.AveragedWeights;
import org.gramian.train.Optimizer.ParameterGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Clipping, averaged weights and state, which all optimizers share. */
@ExtendWith(SingleThreaded.class)
class OptimizerTest {
    private static final List<ParameterSpec> SPECS = List.of(
            new ParameterSpec("weight", Shape.of(3, 4), Role.WEIGHT, Tensors::gaussian),
            new ParameterSpec("bias", Shape.of(4), Role.BIAS, Tensors::gaussian),
            new ParameterSpec("w", Shape.of(6, 2), Role.STIEFEL, Stiefel::random));

    static Stream<OptimizerRule> rules() {
        StiefelOptions stiefel = new StiefelOptions(0.5, Stiefel.Metric.CANONICAL, Retraction.QR);
        return Stream.of(new Sgd(0.05, 0.9, 5e-4, stiefel), AdamW.defaults(0.05));
    }

    private static ParameterSet parameters(DType type) {
        return ParameterSet.initialize(SPECS, new SplittableRandom(1), type, Device.CPU);
    }

    private static List<ParameterGroup> groups(ParameterSet parameters) {
        return List.of(
                new ParameterGroup(parameters.only(name -> !name.equals("bias")), 0.5, 1),
                new ParameterGroup(parameters.only("bias"::equals), 2, 1));
    }

    private static Map<Parameter, Tensor> gradients(ParameterSet parameters, long seed, double scale) {
        SplittableRandom random = new SplittableRandom(seed);
        Map<Parameter, Tensor> gradients = new HashMap<>();
        parameters
                .all()
                .forEach(parameter -> gradients.put(
                        parameter,
                        Tensors.gaussian(
                                        random,
                                        parameter.spec().shape(),
                                        parameter.value().type())
                                .mul(scale)));
        return gradients;
    }

    private static double norm(Map<Parameter, Tensor> gradients) {
        double sum = 0;
        for (Tensor gradient : gradients.values()) {
            for (double element : gradient.toDoubles()) {
                sum += element * element;
            }
        }
        return Math.sqrt(sum);
    }

    private static List<double[]> values(ParameterSet parameters) {
        return parameters.all().stream()
                .map(parameter -> parameter.value().toDoubles())
                .toList();
    }

    private static void requireClose(ParameterSet found, ParameterSet expected, double tolerance) {
        for (Parameter parameter : expected.all()) {
            assertThat(found.get(parameter.name()).value().toDoubles())
                    .as(parameter.name())
                    .containsExactly(parameter.value().toDoubles(), within(tolerance));
        }
    }

    /** As clip_grad_norm_ of PyTorch: one factor for all groups, Stiefel parameters included. */
    @ParameterizedTest
    @MethodSource("rules")
    void largeGradientsAreClipped(OptimizerRule rule) {
        try (Scope _ = Scope.open();
                ParameterSet clipped = parameters(DType.F64);
                ParameterSet scaled = parameters(DType.F64);
                Optimizer clipping = new Optimizer(rule, 0.5, 0);
                Optimizer plain = new Optimizer(rule, 0, 0)) {
            for (int step = 0; step < 5; step++) {
                clipping.step(groups(clipped), gradients(clipped, step, 1 + step));
                Map<Parameter, Tensor> unclipped = gradients(scaled, step, 1 + step);
                double factor = 0.5 / (norm(unclipped) + 1e-6);
                assertThat(factor).isLessThan(0.5);
                plain.step(groups(scaled), gradients(scaled, step, (1 + step) * factor));
            }
            requireClose(clipped, scaled, 1e-12);
        }
    }

    @ParameterizedTest
    @MethodSource("rules")
    void smallGradientsAreNotClipped(OptimizerRule rule) {
        try (Scope _ = Scope.open();
                ParameterSet clipped = parameters(DType.F32);
                ParameterSet free = parameters(DType.F32);
                Optimizer clipping = new Optimizer(rule, 100, 0);
                Optimizer plain = new Optimizer(rule, 0, 0)) {
            clipping.step(groups(clipped), gradients(clipped, 3, 1));
            plain.step(groups(free), gradients(free, 3, 1));
            assertThat(values(clipped)).usingRecursiveComparison().isEqualTo(values(free));
        }
    }

    /** Squares of these elements overflow or vanish in float32, their norm does not. */
    @Test
    void theNormOfHugeAndTinyGradientsIsExact() {
        for (double scale : new double[] {1e37, 1e-30}) {
            try (Scope _ = Scope.open();
                    Parameter bias = new Parameter(
                            new ParameterSpec("bias", Shape.of(2), Role.BIAS, Tensors::gaussian),
                            Tensors.zeros(Shape.of(2), DType.F32, Device.CPU));
                    Optimizer sgd =
                            new Optimizer(new Sgd(1 / scale, 0, 0, StiefelOptions.defaults()), 2.5 * scale, 0)) {
                sgd.step(bias, Tensors.of(new double[] {3 * scale, 4 * scale}, Shape.of(2), DType.F32));
                double factor = Math.min(1, 2.5 * scale / (5 * scale + 1e-6));
                assertThat(bias.value().toDoubles())
                        .containsExactly(new double[] {-3 * factor, -4 * factor}, within(1e-5));
            }
        }
    }

    /** Large parameters move in parts; what a rule computes of all rows at once has the same bits. */
    @ParameterizedTest
    @MethodSource("rules")
    void partsMoveAsTheWhole(OptimizerRule rule) {
        ParameterSpec spec = new ParameterSpec("weight", Shape.of(301, 1000), Role.WEIGHT, Tensors::gaussian);
        try (Scope _ = Scope.open();
                ParameterSet parameters =
                        ParameterSet.initialize(List.of(spec), new SplittableRandom(1), DType.F32, Device.CPU);
                Optimizer optimizer = new Optimizer(rule)) {
            Parameter parameter = parameters.get("weight");
            Tensor value = parameter.value().copy();
            Map<String, Tensor> state = Map.of();
            for (int step = 1; step <= 3; step++) {
                Tensor gradient =
                        Objects.requireNonNull(gradients(parameters, step, 1).get(parameter));
                OptimizerRule.Update next = rule.update(Role.WEIGHT, value, gradient, state, step);
                value = next.value();
                state = next.state();
                optimizer.step(parameter, gradient);
            }
            assertThat(parameter.value().toBytes()).isEqualTo(value.toBytes());
            state.forEach((name, tensor) -> assertThat(Objects.requireNonNull(optimizer.state(parameter, name))
                            .toBytes())
                    .as(name)
                    .isEqualTo(tensor.toBytes()));
        }
    }

    @ParameterizedTest
    @MethodSource("rules")
    void averagedWeightsMatchPlainArithmetic(OptimizerRule rule) {
        double ema = 0.6;
        try (Scope _ = Scope.open();
                ParameterSet parameters = parameters(DType.F64);
                Optimizer optimizer = new Optimizer(rule, 0, ema)) {
            List<double[]> averages = values(parameters);
            for (int step = 0; step < 20; step++) {
                optimizer.step(groups(parameters), gradients(parameters, step, 0.1));
                double decay = Math.min(ema, (1.0 + step) / (10.0 + step));
                List<double[]> now = values(parameters);
                for (int p = 0; p < now.size(); p++) {
                    for (int i = 0; i < now.get(p).length; i++) {
                        averages.get(p)[i] = decay * averages.get(p)[i] + (1 - decay) * now.get(p)[i];
                    }
                }
            }
            List<double[]> trained = values(parameters);
            int place = 0;
            try (AveragedWeights _ = new AveragedWeights(optimizer, parameters.all())) {
                for (Parameter parameter : parameters.all()) {
                    double[] expected = averages.get(place++);
                    if (parameter.spec().role() == Role.STIEFEL) {
                        Tensor average = Tensors.of(expected, parameter.spec().shape(), DType.F64);
                        assertThat(Stiefel.orthogonalityError(average))
                                .as("an average leaves the manifold")
                                .isGreaterThan(1e-8);
                        expected =
                                Decompositions.orthonormalColumns(average, true).toDoubles();
                        assertThat(Stiefel.orthogonalityError(parameter.value()))
                                .isLessThan(1e-14);
                    }
                    assertThat(parameter.value().toDoubles())
                            .as(parameter.name())
                            .containsExactly(expected, within(1e-12));
                }
            }
            assertThat(values(parameters)).usingRecursiveComparison().isEqualTo(trained);
        }
    }

    @Test
    void keptAveragesStayAndLeakNothing() {
        long live = Tensor.live();
        try (Scope _ = Scope.open();
                ParameterSet parameters = parameters(DType.F32);
                Optimizer optimizer = new Optimizer(AdamW.defaults(0.05), 1, 0.9)) {
            for (int step = 0; step < 3; step++) {
                optimizer.step(groups(parameters), gradients(parameters, step, 1));
            }
            List<double[]> trained = values(parameters);
            try (AveragedWeights averages = new AveragedWeights(optimizer, parameters.all())) {
                averages.keep();
            }
            assertThat(parameters.get("bias").value().toDoubles())
                    .isNotEqualTo(trained.get(1))
                    .containsExactly(Objects.requireNonNull(optimizer.state(parameters.get("bias"), Optimizer.AVERAGE))
                            .toDoubles());
        }
        assertThat(Tensor.live()).isEqualTo(live);
    }

    /** What a checkpoint does: state and step count move to a new optimizer, which goes on with the same bits. */
    @ParameterizedTest
    @MethodSource("rules")
    void optimizerResumesFromItsState(OptimizerRule rule) {
        try (Scope _ = Scope.open();
                ParameterSet whole = parameters(DType.F32);
                ParameterSet broken = parameters(DType.F32);
                Optimizer one = new Optimizer(rule, 0.7, 0.9);
                Optimizer first = new Optimizer(rule, 0.7, 0.9);
                Optimizer second = new Optimizer(rule, 0.7, 0.9)) {
            for (int step = 0; step < 9; step++) {
                one.step(groups(whole), gradients(whole, step, 1));
                if (step == 4) {
                    broken.all()
                            .forEach(parameter -> first.state(parameter)
                                    .forEach((name, state) -> second.setState(parameter, name, state.copy())));
                    second.setSteps(first.steps());
                }
                (step < 4 ? first : second).step(groups(broken), gradients(broken, step, 1));
            }
            assertThat(values(broken)).usingRecursiveComparison().isEqualTo(values(whole));
            for (Parameter parameter : whole.all()) {
                Parameter twin = broken.get(parameter.name());
                assertThat(one.state(parameter).keySet())
                        .isEqualTo(one.stateShapes(parameter).keySet());
                one.state(parameter)
                        .forEach((name, state) -> assertThat(Objects.requireNonNull(second.state(twin, name))
                                        .toBytes())
                                .as(name)
                                .isEqualTo(state.toBytes()));
            }
        }
    }

    @Test
    void stateOfAnotherNameOrShapeIsRefused() {
        try (Scope _ = Scope.open();
                ParameterSet parameters = parameters(DType.F32);
                Optimizer sgd = new Optimizer(Sgd.defaults(0.1));
                Optimizer adamW = new Optimizer(AdamW.defaults(0.1))) {
            Parameter bias = parameters.get("bias");
            Tensor four = Tensors.zeros(Shape.of(4), DType.F32, Device.CPU);
            Tensor three = Tensors.zeros(Shape.of(3), DType.F32, Device.CPU);
            assertThatThrownBy(() -> sgd.setState(bias, "first-moment", four)).has(facts("first-moment", "bias"));
            assertThatThrownBy(() -> sgd.setState(bias, Optimizer.AVERAGE, four))
                    .has(facts("bias"));
            assertThatThrownBy(() -> adamW.setState(bias, "second-moment", three))
                    .has(facts("second-moment", "[4]", "[3]"));
            assertThatThrownBy(() -> adamW.setState(parameters.get("w"), "second-moment", four))
                    .hasMessageContainingAll("[1]", "[4]");
            assertThatThrownBy(() -> sgd.setSteps(-1)).has(facts("-1"));
        }
    }

    @Test
    void fittedParametersAreRefused() {
        List<ParameterSpec> fitted = List.of(new ParameterSpec("mean", Shape.of(2), Role.FITTED, Tensors::gaussian));
        try (Scope _ = Scope.open();
                ParameterSet parameters =
                        ParameterSet.initialize(fitted, new SplittableRandom(0), DType.F32, Device.CPU);
                Optimizer adamW = new Optimizer(AdamW.defaults(0.1))) {
            assertThatThrownBy(() -> adamW.step(List.of(ParameterGroup.of(parameters)), gradients(parameters, 1, 1)))
                    .has(facts("mean"));
        }
    }
}
