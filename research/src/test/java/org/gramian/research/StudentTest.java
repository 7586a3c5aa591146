package org.gramian.research;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
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
