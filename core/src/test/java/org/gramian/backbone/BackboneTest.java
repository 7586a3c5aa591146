package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.TensorAssert.assertTensor;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.accelerate.Acceleration;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Laws that every network keeps, with random parameters in single precision. */
@ExtendWith(Scoped.class)
class BackboneTest {
    /** Odd sides, where rounding differs most. */
    private static final int HEIGHT = Boolean.getBoolean("gramian.full") ? 257 : 65;

    private static final int WIDTH = Boolean.getBoolean("gramian.full") ? 193 : 49;

    private static final Map<Backbone, BackboneTrial> TRIALS = new HashMap<>();

    @AfterAll
    static void closeTrials() {
        TRIALS.values().forEach(BackboneTrial::close);
        TRIALS.clear();
    }

    static Stream<Backbone> all() {
        return BackboneTrial.backbones();
    }

    private static BackboneTrial trial(Backbone backbone) {
        return TRIALS.computeIfAbsent(backbone, _ -> BackboneTrial.of(backbone, DType.F32));
    }

    private static Tensor images(long... sizes) {
        return Tensors.gaussian(new SplittableRandom(11), Shape.of(sizes), DType.F32);
    }

    /** Bit by bit: folding once computes the same numbers as folding in every batch. */
    @ParameterizedTest
    @MethodSource("all")
    void foldedBatchNormsGiveTheSameFeatures(Backbone backbone) {
        BackboneTrial trial = trial(backbone);
        Backbone fused = Acceleration.rewrite(backbone);
        Tensor images = images(1, 3, 48, 48);
        try (ParameterSet folded = backbone.folded(trial.parameters());
                Tape tape = Tape.inference()) {
            boolean norms = trial.parameters().all().stream()
                    .anyMatch(parameter -> parameter.name().endsWith("running_var"));
            assertThat(folded.all().isEmpty()).isEqualTo(!norms);
            Tensor features =
                    fused.apply(tape.constant(images), trial.frozen(tape)).value();
            Var once = fused.apply(tape.constant(images), trial.frozen(tape, folded.variables(tape)));
            assertThat(Arrays.equals(once.value().toBytes(), features.toBytes()))
                    .isTrue();
            assertThat(RelativeError.ofNorm(features, trial.features(images))).isLessThan(1e-4);
        }
    }

    /** Stage by stage, which is also what cutting there must give. */
    @ParameterizedTest
    @MethodSource("all")
    void layersHavePredictedShapeAndValuesOfWholeNetwork(Backbone backbone) {
        BackboneTrial trial = trial(backbone);
        Tensor images = images(1, 3, HEIGHT, WIDTH);
        List<String> cuts = backbone.layers().subList(0, backbone.layers().indexOf(backbone.layer()) + 1);
        try (Tape tape = Tape.inference()) {
            int start = tape.mark();
            Var state = tape.constant(images);
            for (String layer : cuts) {
                state = stage(backbone, layer).apply(state, trial.frozen(tape));
                Shape predicted = backbone.cutAt(layer).features(HEIGHT, WIDTH);
                Var maps = stage(backbone, layer).features(state, predicted);
                assertThat(maps.value().reshape(predicted.sizes()).shape())
                        .as(layer)
                        .isEqualTo(predicted);
                if (layer.equals(cuts.get(cuts.size() / 3)) || layer.equals(backbone.layer())) {
                    Var cut = backbone.cutAt(layer).apply(tape.constant(images), trial.frozen(tape));
                    assertTensor(cut.value()).as(layer).isIdenticalTo(maps.value());
                }
                tape.keepOnly(state, start);
            }
        }
    }

    private static NetworkLayer stage(Backbone backbone, String layer) {
        return Backbones.network(backbone.name()).stages().stream()
                .filter(stage -> stage.name().equals(layer))
                .findFirst()
                .orElseThrow();
    }

    /** To the bit, so that what is kept of an image does not depend on those it was computed with. */
    @ParameterizedTest
    @MethodSource("all")
    void featuresDoNotDependOnPositionInBatch(Backbone backbone) {
        int batch = 3;
        int[] places = {0, 2};
        byte[] image = images(1, 3, 48, 48).toBytes();
        byte[] first = new byte[0];
        for (int place : places) {
            Tensor many = Tensors.gaussian(new SplittableRandom(20 + place), Shape.of(batch, 3, 48, 48), DType.F32);
            byte[] all = many.toBytes();
            System.arraycopy(image, 0, all, place * image.length, image.length);
            Tensor found =
                    trial(backbone).features(Tensors.copyOf(MemorySegment.ofArray(all), DType.F32, many.shape()));
            byte[] own = found.slice(0, place, place + 1).copy().toBytes();
            first = place == 0 ? own : first;
            assertThat(own).as("place %d", place).isNotEmpty().isEqualTo(first);
        }
    }

    /** All that stays of a prediction is its result; what the caller computed before is not touched. */
    @ParameterizedTest
    @MethodSource("all")
    void predictionKeepsOnlyItsResult(Backbone backbone) {
        BackboneTrial trial = trial(backbone);
        try (Tape tape = Tape.inference()) {
            Var doubled = tape.constant(images(1, 3, 48, 40)).mul(2);
            try (Tape first = Tape.inference()) { // interpolation matrices of this size are kept
                backbone.apply(first.constant(images(1, 3, 48, 40)), trial.frozen(first));
            }
            long before = Tensor.live();
            Var features = backbone.apply(doubled, trial.frozen(tape));
            assertThat(Tensor.live()).isEqualTo(before + 1);
            assertThat(features.wantsGradient()).isFalse();
            assertThat(doubled.value().toFloats()).hasSize(3 * 48 * 40);
        }
    }

    /** Where the first layers are frozen, the gradients of the others are those of a network without frozen ones. */
    @ParameterizedTest
    @MethodSource("all")
    void frozenLayersDoNotChangeTheGradientsOfOthers(Backbone backbone) {
        assumeTrue(backbone.parameterCount() < 10_000_000 || Boolean.getBoolean("gramian.full"), "under gramian.full");
        BackboneTrial trial = trial(backbone);
        List<Parameter> trained = trial.parameters().all().stream()
                .filter(parameter -> parameter.spec().role() != Role.FITTED)
                .toList();
        List<Parameter> last = trained.subList(trained.size() * 2 / 3, trained.size());
        if (!last.isEmpty()) {
            List<Tensor> alone = gradients(trial, last, last);
            List<Tensor> amongAll = gradients(trial, trained, last);
            for (int i = 0; i < last.size(); i++) {
                assertTensor(alone.get(i)).as(last.get(i).name()).isCloseTo(amongAll.get(i), 1e-4);
            }
        }
    }

    private static List<Tensor> gradients(BackboneTrial trial, List<Parameter> varied, List<Parameter> wanted) {
        try (Tape tape = Tape.recording()) {
            Map<String, Var> variables = new HashMap<>();
            varied.forEach(parameter -> variables.put(parameter.name(), tape.variable(parameter.value())));
            Var features = trial.backbone().apply(tape.constant(images(1, 3, 40, 40)), trial.frozen(tape, variables));
            try (Gradients gradients =
                    tape.backward(features, images(features.shape().sizes()))) {
                return wanted.stream()
                        .map(parameter -> gradients
                                .of(Objects.requireNonNull(variables.get(parameter.name())))
                                .copy())
                        .toList();
            }
        }
    }

    @Test
    void rejectsWrongInputShapes() {
        BackboneTrial trial = trial(Backbone.of("filters"));
        for (Shape wrong : List.of(Shape.of(1, 4, 32, 32), Shape.of(3, 32, 32), Shape.of(0, 3, 32, 32))) {
            try (Tape tape = Tape.inference()) {
                Var found = tape.constant(Tensors.zeros(wrong, DType.F32, Device.CPU));
                assertThatThrownBy(() -> trial.backbone().apply(found, trial.frozen(tape)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContainingAll("filters:bank", "[n, 3, height, width]", wrong.toString());
            }
        }
    }
}
