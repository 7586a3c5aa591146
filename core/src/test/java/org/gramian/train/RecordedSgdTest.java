package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.spd.Retraction;
import org.gramian.spd.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Gpu;
import org.junit.jupiter.api.Test;

/** Steps without a word from the host against those of {@link Sgd}. */
class RecordedSgdTest {
    private static final SgdOptions OPTIONS =
            new SgdOptions(0.1, 0.9, 0.01, new StiefelOptions(0.5, Stiefel.Metric.CANONICAL, Retraction.QR));

    private static final List<ParameterSpec> SPECS = List.of(
            new ParameterSpec("weight", Shape.of(5, 7), Role.WEIGHT, Tensors::gaussian),
            new ParameterSpec("bias", Shape.of(7), Role.BIAS, Tensors::gaussian),
            new ParameterSpec("turned", Shape.of(40, 12), Role.STIEFEL, Stiefel::random));

    private static ParameterSet parameters(Device device) {
        return ParameterSet.initialize(SPECS, new SplittableRandom(3), DType.F32, device);
    }

    private static Map<Parameter, Tensor> gradients(ParameterSet parameters, SplittableRandom random, double scale) {
        return Map.copyOf(parameters.all().stream()
                .collect(Collectors.toMap(
                        parameter -> parameter,
                        parameter -> Tensors.to(
                                Elementwise.mul(
                                        Tensors.gaussian(
                                                random.split(), parameter.spec().shape(), DType.F32),
                                        scale),
                                parameter.value().device()))));
    }

    /** A batch of one crop whose score is right. */
    private static void observe(StepCells cells, double loss) {
        Device gpu = Gpu.required();
        cells.observe(
                Tensors.to(Tensors.of(new double[] {0, 1}, Shape.of(1, 2), DType.F32), gpu),
                Tensors.to(Tensors.ofLongs(new long[] {1}, Shape.of(1)), gpu),
                Tensors.full(loss, Shape.of(1), DType.F32, gpu));
    }

    @Test
    void thirtyStepsAreThoseOfSgd() {
        Device gpu = Gpu.required();
        try (Scope _ = Scope.open();
                ParameterSet plain = parameters(Device.CPU);
                ParameterSet fast = parameters(gpu);
                Sgd sgd = new Sgd(OPTIONS);
                Sgd velocities = new Sgd(OPTIONS);
                StepCells cells = new StepCells(gpu)) {
            RecordedSgd recorded = new RecordedSgd(velocities, cells);
            List<ParameterGroup> groups = List.of(new ParameterGroup(fast, 0.7, 1.5));
            assertThat(RecordedSgd.suits(groups, OPTIONS)).isTrue();
            cells.begin(0);
            for (int step = 0; step < 30; step++) {
                double rate = 0.1 / (1 + step);
                sgd.setLearningRate(rate);
                sgd.step(new ParameterGroup(plain, 0.7, 1.5), gradients(plain, new SplittableRandom(step), 0.3));
                cells.setRate(rate);
                observe(cells, 2);
                recorded.step(groups, gradients(fast, new SplittableRandom(step), 0.3));
            }
            assertThat(cells.read()).isEqualTo(new StepCells.Outcome(30, 60, 30, false, 2));
            for (ParameterSpec spec : SPECS) {
                assertThat(fast.get(spec.name()).value().toDoubles())
                        .as(spec.name())
                        .containsExactly(plain.get(spec.name()).value().toDoubles(), within(2e-5));
            }
            assertThat(Stiefel.orthogonalityError(fast.get("turned").value())).isLessThan(1e-6);
        }
    }

    @Test
    void afterAStepThatWentWrongNothingMovesUntilItIsSeenTo() {
        requireWrong(1, Double.NaN);
        requireWrong(Double.POSITIVE_INFINITY, 1);
    }

    /** A turn by so much that corrections do not end on the manifold is left to the host. */
    @Test
    void aTurnThatIsTooLargeIsNotTaken() {
        requireWrong(1, 1e3);
    }

    private static void requireWrong(double loss, double scale) {
        Device gpu = Gpu.required();
        try (Scope _ = Scope.open();
                ParameterSet parameters = parameters(gpu);
                Sgd velocities = new Sgd(OPTIONS);
                StepCells cells = new StepCells(gpu)) {
            RecordedSgd recorded = new RecordedSgd(velocities, cells);
            List<ParameterGroup> groups = List.of(ParameterGroup.of(parameters));
            cells.begin(0);
            cells.setRate(0.1);
            observe(cells, 1);
            recorded.step(groups, gradients(parameters, new SplittableRandom(1), 0.1));
            List<double[]> before = values(parameters);
            observe(cells, loss);
            recorded.step(groups, gradients(parameters, new SplittableRandom(2), scale));
            observe(cells, 1);
            recorded.step(groups, gradients(parameters, new SplittableRandom(3), 0.1));
            assertThat(cells.read().wrong()).isTrue();
            assertThat(cells.read().steps()).isEqualTo(1);
            assertThat(values(parameters)).usingRecursiveComparison().isEqualTo(before);
            cells.begin(1);
            observe(cells, 1);
            recorded.step(groups, gradients(parameters, new SplittableRandom(3), 0.1));
            assertThat(cells.read().steps()).isEqualTo(1);
        }
    }

    private static List<double[]> values(ParameterSet parameters) {
        return parameters.all().stream()
                .map(parameter -> parameter.value().toDoubles())
                .toList();
    }
}
