package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A backbone and its tail are the network. */
@ExtendWith(Scoped.class)
class ClassifierTailTest {
    static Stream<String> networks() {
        return BackboneTrial.backbones()
                .filter(backbone -> backbone.layers().contains(Backbone.LOGITS))
                .map(Backbone::name);
    }

    /** The network up to the layer before its class scores. */
    private static Backbone whole(Backbone backbone) {
        return backbone.cutAt(backbone.layers().get(backbone.layers().size() - 2));
    }

    /** Some layers whose maps determine those that follow. */
    private static List<String> cuts(Backbone backbone) {
        List<String> layers = backbone.layers();
        return Stream.of(0, layers.size() / 3, layers.indexOf(backbone.defaultLayer()), layers.size() - 3)
                .distinct()
                .filter(i -> Backbones.network(backbone.name()).stages().get(i).passesMaps())
                .map(layers::get)
                .toList();
    }

    @ParameterizedTest
    @MethodSource("networks")
    void theFeaturesOfAnyCutFollowedByItsTailAreTheMeanOfTheWholeNetwork(String name) {
        boolean dense = name.startsWith("vgg"); // a hundred million weights, for images of one size
        assumeTrue(!dense || Boolean.getBoolean("gramian.full"), "under gramian.full");
        Backbone whole = whole(Backbone.of(name));
        Shape size = dense ? Shape.of(1, 3, 224, 224) : Shape.of(1, 3, 66, 51);
        Tensor images = Tensors.gaussian(new SplittableRandom(1), size, DType.F32);
        try (BackboneTrial trial = BackboneTrial.of(whole, DType.F32);
                Tape tape = Tape.inference()) {
            Var end = whole.apply(tape.constant(images), trial.frozen(tape));
            Var mean = FeatureMaps.globalAveragePool(end).reshape(size.at(0), whole.channels());
            for (String layer : cuts(whole)) {
                Backbone cut = whole.cutAt(layer);
                ClassifierTail tail = cut.tail();
                Var features = cut.apply(tape.constant(images), trial.frozen(tape));
                assertTensor(tail.apply(features, trial.frozen(tape)).value())
                        .as(layer)
                        .isCloseTo(mean.value(), 1e-6);
                assertThat(tail.channels()).as(layer).isEqualTo(cut.channels());
                assertThat(tail.outputs()).as(layer).isEqualTo(whole.channels());
                assertThat(Stream.concat(cut.parameters().stream(), tail.parameters().stream())
                                .map(ParameterSpec::name))
                        .as(layer)
                        .containsExactlyElementsOf(whole.parameters().stream()
                                .map(ParameterSpec::name)
                                .toList());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "vgg16, conv5_3, 512, 4096, 'pool5, fc6, fc7'",
        "googlenet, inception_4e, 832, 1024, 'pool4/3x3_s2, inception_5a, inception_5b, pool5'",
        "googlenet, inception_4d+inception_4e, 832, 1024, 'pool4/3x3_s2, inception_5a, inception_5b, pool5'",
        "efficientnet-lite4, block28, 272, 1280, 'block29, head_conv, avgpool'",
        "resnet18, layer3, 256, 512, 'layer4.0, layer4, avgpool'",
        "squeezenet, fire9, 512, 1000, conv10"
    })
    void itEndsBeforeTheClassScores(String network, String layer, long channels, long outputs, String layers) {
        ClassifierTail tail = Backbone.of(network, layer).tail();
        assertThat(tail.channels()).isEqualTo(channels);
        assertThat(tail.outputs()).isEqualTo(outputs);
        assertThat(String.join(", ", tail.layers())).isEqualTo(layers);
        assertThat(tail)
                .has(facts(network, tail.layer(), layers))
                .isEqualTo(Backbone.of(network, tail.layer()).tail());
    }

    @Test
    void fullyConnectedLayersWantTheMapsOfOneSize() {
        ClassifierTail tail = Backbone.of("vgg16").tail();
        tail.requireFits(14, 14);
        tail.requireFits(15, 15); // pool5 leaves 7×7 of these too
        assertRejected(() -> tail.requireFits(16, 14), "pool5", "fc6", "fc7", "16×14", "14×14", "224×224", "conv5_3");
        Backbone.of("googlenet").tail().requireFits(3, 8);
    }

    @ParameterizedTest
    @CsvSource({"googlenet, pool5", "googlenet, logits", "filters, bank", "vgg16, fc7"})
    void whereNothingFollowsThereIsNone(String network, String layer) {
        Backbone backbone = Backbone.of(network, layer);
        assertRejected(backbone::tail, network, layer);
    }
}
