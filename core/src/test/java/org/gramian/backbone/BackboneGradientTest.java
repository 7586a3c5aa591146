package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Gradients of every network in double precision against central differences. */
@ExtendWith(Scoped.class)
class BackboneGradientTest {
    /**
     * Among a million rectified numbers some lie within any step of their kink, so the step is short: the share of
     * those falls with it, and rounding, about 1e-16 of the value over the step, stays below the tolerance.
     */
    private static final double STEP = 1e-7;

    private static final boolean FULL = Boolean.getBoolean("gramian.full");

    /** SiLU has no kinks, so that only rounding matters. */
    private static final double SMOOTH_STEP = 1e-5;

    private static final Shape IMAGES = Shape.of(1, 3, 34, 37);

    /** Under {@code ./verify --full} all: convolutions of single channels are slow in double precision. */
    static Stream<Backbone> all() {
        return BackboneTrial.backbones().filter(backbone -> FULL || !isSlow(backbone));
    }

    private static boolean isSlow(Backbone backbone) {
        return backbone.name().matches("efficientnet_v2_s|mobilenet.*|convnext.*");
    }

    static Stream<Backbone> trained() {
        return all().filter(backbone -> backbone.parameterCount() > 0);
    }

    /** Along random directions, so that every pixel has a part. */
    @ParameterizedTest
    @MethodSource("all")
    void gradientsOfImagesAreCentralDifferences(Backbone backbone) {
        SplittableRandom random = new SplittableRandom(3);
        Tensor start = Tensors.gaussian(random, IMAGES, DType.F64);
        int count = FULL ? 5 : 1;
        Tensor directions = Tensors.gaussian(random, Shape.of(count, IMAGES.elements()), DType.F64);
        try (BackboneTrial trial = BackboneTrial.of(backbone, DType.F64)) {
            GradientCheck check = GradientCheck.of(inputs -> {
                Tape tape = inputs.getFirst().tape();
                Var moved = inputs.getFirst().matmul(tape.constant(directions));
                Var images = tape.constant(start).add(moved.reshape(IMAGES.sizes()));
                return backbone.apply(images, trial.frozen(tape));
            });
            double step = backbone.name().equals("efficientnet_v2_s") ? SMOOTH_STEP : STEP;
            assertPassed(check.withStep(step).check(Tensors.zeros(Shape.of(1, count), DType.F64, Device.CPU)));
        }
    }

    /** All trained parameters at once along a random direction. */
    @ParameterizedTest
    @MethodSource("trained")
    void gradientsOfParametersAreCentralDifferences(Backbone backbone) {
        int layer = backbone.layers().size() * 2 / 5;
        Tensor images = Tensors.gaussian(new SplittableRandom(4), IMAGES, DType.F64);
        try (BackboneTrial trial =
                BackboneTrial.of(backbone.cutAt(backbone.layers().get(layer)), DType.F64)) {
            SplittableRandom random = new SplittableRandom(5);
            Map<String, Tensor> directions = new LinkedHashMap<>();
            for (Parameter parameter : trial.parameters().all()) {
                if (parameter.spec().role() != Role.FITTED) {
                    Shape shape = parameter.value().shape();
                    directions.put(parameter.name(), Tensors.gaussian(random, shape, DType.F64));
                }
            }
            GradientCheck check = GradientCheck.of(inputs -> {
                Tape tape = inputs.getFirst().tape();
                Map<String, Var> varied = new HashMap<>();
                for (Parameter parameter : trial.parameters().all()) {
                    Tensor direction = directions.get(parameter.name());
                    if (direction != null) {
                        Var moved = tape.constant(direction).mul(inputs.getFirst());
                        varied.put(
                                parameter.name(),
                                tape.constant(parameter.value()).add(moved));
                    }
                }
                return trial.backbone().apply(tape.constant(images), trial.frozen(tape, varied));
            });
            assertPassed(check.withStep(STEP).check(Tensors.zeros(Shape.of(1), DType.F64, Device.CPU)));
        }
    }

    private static void assertPassed(GradientCheck.Report report) {
        assertThat(report.worst()).as("%s", report).isLessThan(1e-6);
        assertThat(report.deviations()).allSatisfy(d -> assertThat(d.found()).isNotZero());
    }
}
