package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.accelerate.Acceleration;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Networks whose maps are BF16 while their parameters, and what training moves, are single precision. */
@ExtendWith(Scoped.class)
class MixedPrecisionTest {
    /** BF16 has eight bits, 0.4 % of a number; roundings of tens of layers add up like a random walk. */
    private static final double TOLERANCE = 3e-2;

    /**
     * Every network at its default layer, but EfficientNet after its first blocks: with random weights the difference
     * grows with every one of its thirty, whatever made it; with trained ones it does not.
     */
    static Stream<Backbone> all() {
        return BackboneTrial.backbones()
                .map(backbone -> backbone.name().equals("efficientnet-lite4") ? backbone.cutAt("block4") : backbone);
    }

    private static Tensor images(long... sizes) {
        return Tensors.gaussian(new SplittableRandom(12), Shape.of(sizes), DType.F32);
    }

    @ParameterizedTest
    @MethodSource("all")
    void featuresAreThoseOfSinglePrecisionNearly(Backbone backbone) {
        try (BackboneTrial trial = BackboneTrial.of(backbone, DType.F32);
                Tape tape = Tape.inference()) {
            Var mixed = mixed(trial, tape.constant(images(1, 3, 40, 45)), trial.frozen(tape));
            Tensor exact = trial.features(images(1, 3, 40, 45));
            assertThat(RelativeError.ofNorm(mixed.value(), exact)).isStrictlyBetween(0.0, TOLERANCE);
        }
    }

    /** The gradient of every parameter, the way back through every kind of layer that is trained. */
    @ParameterizedTest
    @ValueSource(
            strings = {"squeezenet:fire2", "resnet18:layer1", "googlenet:inception_3a", "efficientnet-lite4:block1"})
    void gradientsAreSinglePrecisionAndThoseOfItNearly(String cut) {
        String[] parts = cut.split(":", 2);
        Backbone backbone = Backbone.of(parts[0], parts[1]);
        try (BackboneTrial trial = BackboneTrial.of(backbone, DType.F32)) {
            List<Tensor> exact = gradients(trial, DType.F32);
            List<Tensor> mixed = gradients(trial, DType.BF16);
            assertThat(mixed).hasSameSizeAs(exact).isNotEmpty();
            double errors = 0;
            for (int i = 0; i < exact.size(); i++) {
                assertThat(mixed.get(i).type()).isEqualTo(DType.F32);
                errors += RelativeError.ofNorm(mixed.get(i), exact.get(i)) / exact.size();
            }
            assertThat(errors).as("mean relative error").isStrictlyBetween(0.0, 0.1);
        }
    }

    private static List<Tensor> gradients(BackboneTrial trial, DType maps) {
        try (Tape tape = Tape.recording()) {
            var variables = trial.parameters().variables(tape);
            Var input = tape.constant(images(2, 3, 48, 56)).to(maps);
            Var features = Acceleration.rewrite(trial.backbone())
                    .apply(input, Bindings.of(variables))
                    .to(DType.F32);
            List<Tensor> found = new ArrayList<>();
            try (Gradients gradients =
                    tape.backward(features, images(features.shape().sizes()))) {
                for (Parameter parameter : trial.parameters().all()) {
                    Var variable = Objects.requireNonNull(variables.get(parameter.name()));
                    if (gradients.has(variable)) {
                        found.add(gradients.of(variable).copy());
                    }
                }
            }
            return found;
        }
    }

    private static Var mixed(BackboneTrial trial, Var images, Bindings parameters) {
        return Acceleration.rewrite(trial.backbone())
                .apply(images.to(DType.BF16), parameters)
                .to(DType.F32);
    }
}
