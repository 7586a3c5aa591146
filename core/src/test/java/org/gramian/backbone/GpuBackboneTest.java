package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.accelerate.Acceleration;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CapturedWork;
import org.gramian.tensor.cuda.CudaStream;
import org.gramian.tensor.cuda.SideStream;
import org.gramian.testing.Gpu;
import org.gramian.testing.RelativeError;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Features and gradients of every network on a GPU, in float32, in bfloat16 and in a CUDA graph, against the CPU. */
class GpuBackboneTest {
    private static final int IMAGES = 2;
    private static final int SIDE = 96;

    static Stream<Backbone> all() {
        return BackboneTrial.backbones().filter(backbone -> !backbone.name().equals("filters")); // it learns nothing
    }

    /** Features, and gradients of the trained parameters by name, as float64 on the CPU. */
    private record Step(Tensor features, Map<String, Tensor> gradients) {}

    private static List<Parameter> trained(BackboneTrial trial) {
        return trial.parameters().all().stream()
                .filter(parameter -> parameter.spec().role() != Role.FITTED)
                .toList();
    }

    private static Map<String, Tensor> on(Device device, BackboneTrial trial) {
        Map<String, Tensor> there = new LinkedHashMap<>();
        trial.parameters()
                .all()
                .forEach(parameter ->
                        there.put(parameter.name(), parameter.value().to(device)));
        return there;
    }

    private static Tensor seed(Backbone backbone, Device device) {
        Shape maps = backbone.features(SIDE, SIDE);
        Shape shape = Shape.of(IMAGES, maps.at(0), maps.at(1), maps.at(2));
        return Tensors.gaussian(new SplittableRandom(5), shape, DType.F32).to(device);
    }

    /** A step of the plain layers on the CPU, of the fused ones on a GPU. */
    private static Step step(BackboneTrial trial, Map<String, Tensor> values, Tensor images, Tensor seed) {
        List<Parameter> trained = trained(trial);
        Device device = images.device();
        Backbone backbone = device.equals(Device.CPU) ? trial.backbone() : Acceleration.rewrite(trial.backbone());
        try (Scheduler scheduler = SideStream.openInCapture(device);
                Tape tape = Tape.recording(scheduler)) {
            Map<String, Var> variables = new LinkedHashMap<>();
            values.forEach((name, value) -> variables.put(name, tape.constant(value)));
            trained.forEach(parameter -> variables.put(
                    parameter.name(), tape.variable(Objects.requireNonNull(values.get(parameter.name())))));
            Var features = backbone.apply(tape.constant(images), Bindings.of(variables))
                    .to(DType.F32);
            try (Gradients gradients = tape.backward(features, seed)) {
                Map<String, Tensor> found = new LinkedHashMap<>();
                trained.forEach(parameter -> found.put(
                        parameter.name(),
                        gradients
                                .of(Objects.requireNonNull(variables.get(parameter.name())))
                                .copy()));
                return new Step(features.value().copy(), found);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void featuresAndGradientsEqualThoseOfTheCpu(Backbone backbone) {
        Device gpu = Gpu.required();
        Tensor images = Tensors.gaussian(new SplittableRandom(11), Shape.of(IMAGES, 3, SIDE, SIDE), DType.F32);
        try (Scope _ = Scope.open();
                BackboneTrial trial = BackboneTrial.of(backbone, DType.F32)) {
            Step expected = step(trial, on(Device.CPU, trial), images, seed(backbone, Device.CPU));
            Step found = step(trial, on(gpu, trial), images.to(gpu), seed(backbone, gpu));
            assertTensor(found.features().to(Device.CPU)).isCloseTo(expected.features(), 1e-4);
            found.gradients()
                    .forEach((name, gradient) -> assertThat(RelativeError.ofNorm(
                                    gradient,
                                    Objects.requireNonNull(expected.gradients().get(name))))
                            .as(name)
                            .isLessThan(2e-2)); // rounding switches some ReLUs
        }
    }

    /** bfloat16 has 8 bits of mantissa; 30 blocks with random weights and no normalization amplify its errors. */
    @ParameterizedTest
    @MethodSource("all")
    void bfloat16IsCloseAndACudaGraphRepeatsItsStep(Backbone backbone) {
        Device gpu = Gpu.required();
        Tensor images = Tensors.gaussian(new SplittableRandom(11), Shape.of(IMAGES, 3, SIDE, SIDE), DType.F32);
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open();
                BackboneTrial trial = BackboneTrial.of(backbone, DType.F32)) {
            Map<String, Tensor> values = on(gpu, trial);
            Tensor there = images.to(gpu).to(DType.BF16);
            Tensor seed = seed(backbone, gpu);
            Step exact = step(trial, values, images.to(gpu), seed);
            Step mixed = step(trial, values, there, seed);
            double tolerance = backbone.name().equals("efficientnet-lite4") ? 0.4 : 0.05;
            assertThat(RelativeError.ofNorm(mixed.features(), exact.features()))
                    .as("features")
                    .isLessThan(tolerance);
            Tensor kept = Tensors.zeros(mixed.features().shape(), DType.F32, gpu);
            Map<String, Tensor> keptGradients = new LinkedHashMap<>();
            mixed.gradients()
                    .forEach((name, gradient) ->
                            keptGradients.put(name, Tensors.zeros(gradient.shape(), gradient.type(), gpu)));
            Runnable work = () -> {
                try (Scope _ = Scope.open()) {
                    Step again = step(trial, values, there, seed);
                    kept.copyFrom(again.features());
                    again.gradients()
                            .forEach((name, gradient) -> Objects.requireNonNull(keptGradients.get(name))
                                    .copyFrom(gradient));
                }
            };
            try (CapturedWork graph = new CapturedWork(gpu, work)) {
                for (int i = 0; i < 4; i++) {
                    graph.run();
                }
                assertThat(graph.isRecorded()).as("recorded").isTrue();
                assertThat(RelativeError.ofNorm(kept, mixed.features())).isLessThan(0.02);
                keptGradients.forEach((name, gradient) -> assertThat(RelativeError.ofNorm(
                                gradient,
                                Objects.requireNonNull(mixed.gradients().get(name))))
                        .as(name)
                        .isLessThan(0.05));
            }
        }
    }
}
