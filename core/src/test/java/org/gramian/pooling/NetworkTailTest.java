package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Map;
import java.util.Optional;
import org.gramian.backbone.Backbone;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How the tail of a network becomes one of a backbone. */
class NetworkTailTest {
    private static Pooling resolve(String text, Backbone backbone) {
        return Pooling.parse(text).resolve(backbone, 100);
    }

    @ParameterizedTest
    @CsvSource({
        "googlenet, inception_4e, 'tail:network=googlenet,layer=inception_4e', 1024",
        "googlenet, pool3/3x3_s2, 'tail:network=googlenet,layer=pool3:3x3_s2', 1024",
        "vgg16, conv5_3, 'tail:network=vgg16,layer=conv5_3', 4096",
        "efficientnet-lite4, block20, 'tail:network=efficientnet-lite4,layer=block20', 1280",
    })
    void resolvedTailNamesNetworkAndLayer(String network, String layer, String text, long size) {
        Backbone backbone = Backbone.of(network, layer);
        Pooling pooling = resolve("tail/l2", backbone);
        assertThat(pooling).hasToString(text + "/l2").isEqualTo(Pooling.parse(text + "/l2"));
        assertThat(pooling.descriptorSize(backbone.channels())).isEqualTo(size);
        assertThat(pooling.resolve(backbone, 7)).isEqualTo(pooling);
        assertThat(pooling.aggregation()).isEqualTo(new NetworkTail(Optional.of(backbone.tail())));
        assertThat(resolve("conv:same/tail", backbone).descriptorSize(backbone.channels()))
                .isEqualTo(size);
    }

    @Test
    void rejectsWrongNumberOfChannels() {
        Backbone backbone = Backbone.of("googlenet");
        assertRejected(
                () -> resolve("conv:512/tail", backbone).descriptorSize(832), "832", "512", "conv:832", "inception_5a");
        assertThat(resolve("conv:832/tail", backbone).descriptorSize(832)).isEqualTo(1024);
        Backbone two = Backbone.of("googlenet", "inception_4d+inception_4e");
        assertThat(resolve("conv:832/tail", two).descriptorSize(two.channels())).isEqualTo(1024);
    }

    @Test
    void tailOfAnotherCutIsRefused() {
        assertRejected(
                () -> resolve("tail:network=googlenet,layer=inception_4d", Backbone.of("googlenet")),
                "googlenet:inception_4e",
                "inception_4d");
    }

    @Test
    void itsParametersAreNetworksUnderItsOwnName() {
        Pooling pooling = Pooling.parse("conv:512/tail:network=squeezenet,layer=fire9");
        assertThat(pooling.pretrained())
                .isEqualTo(Map.of("tail.conv10.weight", "conv10.weight", "tail.conv10.bias", "conv10.bias"));
        assertThat(pooling.parameters(7).stream().map(spec -> spec.name() + " " + spec.shape()))
                .containsExactly(
                        "conv.weight [512, 7, 1, 1]",
                        "conv.bias [512]",
                        "tail.conv10.weight [1000, 512, 1, 1]",
                        "tail.conv10.bias [1000]");
        assertThat(Pooling.parse("[average+tail:network=squeezenet,layer=fire9]")
                        .pretrained())
                .containsEntry("join.1.tail.conv10.bias", "conv10.bias")
                .hasSize(2);
    }

    @Test
    void rejectsMapsThatFullyConnectedLayersCannotTake() {
        Pooling pooling = resolve("[average+conv:same/tail]", Backbone.of("vgg16"));
        pooling.requireFits(Shape.of(512, 14, 14));
        assertRejected(() -> pooling.requireFits(Shape.of(512, 28, 28)), "28×28", "14×14");
    }
}
