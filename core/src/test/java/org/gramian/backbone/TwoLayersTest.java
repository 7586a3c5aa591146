package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.SplittableRandom;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A network cut at several layers gives the maps of all of them on one grid. */
@ExtendWith(Scoped.class)
class TwoLayersTest {
    /** Block 29 has half the height and width of block 20, or nearly: odd sizes are rounded up. */
    @ParameterizedTest
    @CsvSource({
        "squeezenet, fire6+fire9, 66, 51",
        "resnet18, layer2.0+layer2, 66, 51",
        "efficientnet-lite4, block20+block29, 64, 96",
        "efficientnet-lite4, block8+block20+block29, 66, 51",
        "squeezenet, fire2+fire4+fire6+fire9, 75, 64",
        "googlenet, inception_3b+inception_4e, 66, 51"
    })
    void laterLayersAreResizedToTheGridOfTheFirst(String network, String layers, int height, int width) {
        Backbone all = Backbone.of(network, layers);
        Shape grid = all.cutAt(all.cutLayers().getFirst()).features(height, width);
        assertThat(all.features(height, width)).isEqualTo(grid.with(0, all.channels()));
        Tensor images = Tensors.gaussian(new SplittableRandom(1), Shape.of(1, 3, height, width), DType.F32);
        try (BackboneTrial trial = BackboneTrial.of(all, DType.F32);
                Tape tape = Tape.inference()) {
            Tensor stacked = trial.features(images);
            long from = 0;
            for (String layer : all.cutLayers()) {
                Backbone one = all.cutAt(layer);
                Tensor alone = new BackboneTrial(one, trial.parameters()).features(images);
                assertTensor(stacked.slice(1, from, from + one.channels()))
                        .as(layer)
                        .isCloseTo(
                                Interpolation.resize(tape.constant(alone), grid.at(1), grid.at(2))
                                        .value(),
                                1e-6);
                from += one.channels();
            }
            assertThat(from).isEqualTo(all.channels());
        }
    }

    /** The tail undoes the resizing, so that it gives what the network itself gives. */
    @ParameterizedTest
    @CsvSource({"squeezenet, fire4+fire8, fire8", "efficientnet-lite4, block20+block29, block29"})
    void theTailBehindSeveralLayersIsTheNetworksOwn(String network, String layers, String last) {
        Backbone all = Backbone.of(network, layers);
        Backbone whole = all.cutAt(all.layers().get(all.layers().size() - 2));
        ClassifierTail tail = all.tail();
        assertThat(tail.grid()).contains(all.cutLayers().getFirst());
        assertThat(tail).isNotEqualTo(all.cutAt(last).tail()).isEqualTo(all.tail());
        Tensor images = Tensors.gaussian(new SplittableRandom(1), Shape.of(1, 3, 66, 96), DType.F64);
        try (BackboneTrial trial = BackboneTrial.of(whole, DType.F64);
                Tape tape = Tape.inference()) {
            Var features = all.apply(tape.constant(images), trial.frozen(tape));
            Var ofLast = features.slice(1, all.channels() - tail.channels(), all.channels());
            Var expected = all.cutAt(last)
                    .tail()
                    .apply(all.cutAt(last).apply(tape.constant(images), trial.frozen(tape)), trial.frozen(tape));
            assertTensor(tail.apply(ofLast, trial.frozen(tape)).value()).isCloseTo(expected.value(), 1e-9);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "inception_4e+inception_4d | earlier one first | inception_4e+inception_4d | --layer"
                        + " inception_4d+inception_4e",
                "inception_4e+inception_4e | earlier one first | inception_4e+inception_4e | googlenet",
                "inception_4a+inception_4c+inception_4b | earlier one first | found |"
                        + " inception_4a+inception_4b+inception_4c",
                "inception_4d+inception_4f | no layer 'inception_4f' | did you mean | inception_4e",
                "inception_3a+inception_3b+inception_4a+inception_4b+inception_4c | at most 4 | found 5 | inception_4c"
            })
    void layersThatDoNotGoTogetherAreRefused(String layer, String first, String second, String third) {
        assertThatThrownBy(() -> Backbone.of("googlenet", layer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(first, second, third);
    }
}
