package org.gramian.research;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StudentTest {
    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    @Test
    void theWeightFileHasEverythingBeforeTheClassifier() {
        Backbone whole = Student.withoutClassifier(Backbone.of("mobilenet_v3_large"));
        assertThat(whole.layer()).isEqualTo("avgpool");
        assertThat(Student.withoutClassifier(Backbone.of("squeezenet")).layer()).isEqualTo("fire9");
    }

    /** Each channel of the first layer has mean 0 and variance 1 over the batch before its activation. */
    @Test
    void inTrainingBatchNormsUseTheBatchAndMoveTheirStatistics() {
        Backbone stem = Backbone.of("resnet18", "conv1");
        Tensor images = Tensors.gaussian(new SplittableRandom(2), Shape.of(4, 3, 16, 16), DType.F32);
        try (ParameterSet parameters =
                        ParameterSet.initialize(stem.parameters(), new SplittableRandom(3), DType.F32, Device.CPU);
                Tape tape = Tape.recording()) {
            Map<String, Var> bound = parameters.variables(tape);
            Tensor trained = stem.apply(tape.constant(images), Bindings.ofTraining(bound))
                    .value();
            double[] first = trained.slice(1, 0, 1).reshape(4 * 8 * 8).toDoubles();
            double squares = 0;
            for (double value : first) {
                squares += value * value / first.length;
            }
            assertThat(squares).isBetween(0.3, 0.7); // half of a standardized channel is positive
            assertThat(parameters.get("bn1.running_var").value().toDoubles()).doesNotContain(1);
            double[] moved = parameters.get("bn1.running_mean").value().toDoubles();
            stem.apply(tape.constant(images), Bindings.of(bound));
            assertThat(parameters.get("bn1.running_mean").value().toDoubles()).isEqualTo(moved);
        }
    }

    @Test
    void layersOfOnePassEqualThoseOfNetworksCutThere() {
        Backbone both = Backbone.of("squeezenet", "fire4+fire6");
        Tensor images = Tensors.gaussian(new SplittableRandom(4), Shape.of(2, 3, 48, 48), DType.F32);
        ParameterSet parameters = ParameterSet.initialize(
                both.cutAt(Backbone.LOGITS).parameters(), new SplittableRandom(5), DType.F32, Device.CPU);
        try (Teacher teacher = new Teacher(
                        both, Optional.of(both.cutAt(Backbone.LOGITS)), parameters, both.preprocessing(), "random");
                Tape tape = Tape.inference()) {
            Teacher.Output output = teacher.apply(images);
            Bindings bound = Bindings.of(parameters.variables(tape));
            assertThat(output.maps().get(0).toFloats())
                    .isEqualTo(both.cutAt("fire4")
                            .apply(tape.constant(images), bound)
                            .value()
                            .toFloats());
            assertThat(output.maps().get(1).toFloats())
                    .isEqualTo(both.cutAt("fire6")
                            .apply(tape.constant(images), bound)
                            .value()
                            .toFloats());
            Tensor scores = both.cutAt(Backbone.LOGITS)
                    .apply(tape.constant(images), bound)
                    .value();
            assertThat(Objects.requireNonNull(output.scores()).toFloats()).isEqualTo(scores.toFloats());
        }
    }
}
