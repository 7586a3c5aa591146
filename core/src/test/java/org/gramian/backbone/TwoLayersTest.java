package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.SplittableRandom;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A network cut at two layers gives the maps of both. */
class TwoLayersTest {
    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    @ParameterizedTest
    @CsvSource({
        "googlenet, inception_4d, inception_4e",
        "squeezenet, fire6, fire9",
        "resnet18, layer2.0, layer2",
        "vgg16, conv4_2, conv4_3",
        "efficientnet-lite4, block18, block20"
    })
    void theMapsOfBothAreStackedInTheirOrder(String network, String first, String second) {
        Backbone both = Backbone.of(network, first + "+" + second);
        Backbone one = Backbone.of(network, first);
        Backbone other = Backbone.of(network, second);
        assertThat(both.channelsOfLayers()).containsExactly(one.channels(), other.channels());
        assertThat(both.channels()).isEqualTo(one.channels() + other.channels());
        assertThat(both.features(66, 51)).isEqualTo(other.features(66, 51).with(0, both.channels()));
        assertThat(both).hasToString(network + ":" + first + "+" + second).isEqualTo(one.cutAt(both.layer()));
        assertThat(both.layersUsed()).isEqualTo(other.layersUsed());
        Tensor pictures = Tensors.gaussian(new SplittableRandom(1), Shape.of(2, 3, 66, 51), DType.F32);
        try (Trial trial = Trial.of(both, DType.F32)) {
            Tensor stacked = trial.features(pictures);
            assertTensor(Views.slice(stacked, 1, 0, one.channels()))
                    .isIdenticalTo(new Trial(one, trial.parameters()).features(pictures));
            assertTensor(Views.slice(stacked, 1, one.channels(), both.channels()))
                    .isIdenticalTo(new Trial(other, trial.parameters()).features(pictures));
        }
    }

    @Test
    void predictionHoldsNothingButItsResult() {
        Backbone both = Backbone.of("squeezenet", "fire2+fire3");
        Tensor pictures = Tensors.gaussian(new SplittableRandom(2), Shape.of(1, 3, 40, 40), DType.F32);
        try (Trial trial = Trial.of(both, DType.F32);
                Tape tape = Tape.inference()) {
            Var input = tape.constant(pictures);
            long before = Tensor.live();
            both.apply(input, trial.frozen(tape));
            assertThat(Tensor.live()).isEqualTo(before + 1);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "inception_3b+inception_4e | the same | no later layer has those of inception_3b | [480, 28, 28] and [832, 14, 14]",
                "inception_4a+inception_5a | the same | inception_4a goes with inception_4b, inception_4c | [832, 7, 7]",
                "inception_4e+inception_4d | earlier one first | inception_4e+inception_4d | googlenet",
                "inception_4e+inception_4e | earlier one first | inception_4e+inception_4e | googlenet",
                "inception_4d+inception_4f | no layer 'inception_4f' | did you mean | inception_4e",
                "inception_4c+inception_4d+inception_4e | at two as a+b | found | inception_4c+inception_4d+"
            })
    void twoThatDoNotGoTogetherAreRefused(String layer, String first, String second, String third) {
        assertThatThrownBy(() -> Backbone.of("googlenet", layer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(first, second, third);
    }
}
