package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What the networks say of themselves, against what is published. */
class BackbonesTest {
    static Stream<Backbone> all() {
        return Backbones.all().stream();
    }

    @ParameterizedTest
    @CsvSource({
        "vgg16, conv5_3, 14714688",
        "vgg16, logits, 138357544",
        "vgg19, conv5_4, 20024384",
        "vgg19, logits, 143667240",
        "resnet18, logits, 11689512",
        "resnet50, logits, 25557032",
        "resnet50-v1, logits, 25557032",
        "mobilenet_v3_large, logits, 5483032",
        "efficientnet_v2_s, logits, 21458488",
        "googlenet, logits, 6998552",
        "squeezenet, logits, 1235496",
        "efficientnet-lite4, logits, 12950384",
        "convnext_tiny, logits, 28589128",
        "convnext_small, logits, 50223688",
        "convnext_base, logits, 88591464",
        "vit-s16, logits, 22050664",
        "vit-b16, logits, 86567656",
        "dinov2-vits14, cls, 22056192",
        "dinov2-vits14-reg, cls, 22057728",
        "dinov2-vitb14, cls, 86579712",
        "dinov2-vitb14-reg, cls, 86582784",
        "gramian-s, layer3, 974624",
        "gramian-s, layer4, 2908960",
        "filters, bank, 0"
    })
    void parameterCountsArePublishedOnes(String name, String layer, long count) {
        assertThat(Backbone.of(name, layer).parameterCount()).isEqualTo(count);
    }

    /** Channels, height and width of layers; the number of layers, or 0 if it is not compared. */
    @ParameterizedTest
    @CsvSource({
        "vgg16, 21, conv1_2=64x224x224 pool1=64x112x112 conv2_2=128x112x112 conv3_3=256x56x56 "
                + "conv4_3=512x28x28 conv5_3=512x14x14 pool5=512x7x7 fc7=4096x1x1 logits=1000x1x1",
        "vgg19, 24, conv5_4=512x14x14",
        "resnet18, 0, conv1=64x112x112 maxpool=64x56x56 layer1=64x56x56 layer2.0=128x28x28 layer3=256x14x14 "
                + "layer4=512x7x7 avgpool=512x1x1",
        "resnet50, 20, layer1=256x56x56 layer3.4=1024x14x14 layer4=2048x7x7",
        "googlenet, 0, conv1/7x7_s2=64x112x112 pool1/3x3_s2=64x56x56 conv2/norm2=192x56x56 "
                + "inception_3b=480x28x28 inception_4c=512x14x14 inception_4e=832x14x14 inception_5b=1024x7x7 "
                + "pool5=1024x1x1",
        "squeezenet, 0, conv1=64x111x111 fire3=128x55x55 fire5=256x27x27 fire9=512x13x13 conv10=1000x13x13",
        "efficientnet-lite4, 34, block0=24x112x112 block4=32x56x56 block8=56x28x28 block14=112x14x14 "
                + "block20=160x14x14 block28=272x7x7 head_conv=1280x7x7",
        "resnet50-v1, 20, layer3=1024x14x14 layer4=2048x7x7",
        "mobilenet_v3_large, 20, features.0=16x112x112 features.6=40x28x28 features.12=112x14x14 "
                + "features.15=160x7x7 features.16=960x7x7 classifier.0=1280x1x1",
        "efficientnet_v2_s, 44, features.1=24x112x112 features.3=64x28x28 features.5=160x14x14 "
                + "features.6=256x7x7 features.7=1280x7x7",
        "convnext_tiny, 24, features.0=96x56x56 features.3=192x28x28 features.5=384x14x14 features.7=768x7x7 "
                + "logits=1000x1x1",
        "vit-b16, 16, patch_embed=768x14x14 blocks.0=768x14x14 norm=768x14x14 cls=768x1x1 logits=1000x1x1",
        "dinov2-vits14-reg, 15, norm=384x16x16",
        "gramian-s, 0, stem=32x112x112 layer1=64x56x56 layer2=128x28x28 layer3=256x14x14 layer4=256x14x14",
        "filters, 1, bank=120x28x28"
    })
    void layersHavePublishedShapesAt224(String name, int count, String expected) {
        Backbone backbone = Backbone.of(name);
        assertThat(backbone.layers()).hasSize(count == 0 ? backbone.layers().size() : count);
        for (String entry : expected.split(" ", -1)) {
            String[] parts = entry.split("=", -1);
            assertThat(backbone.cutAt(parts[0]).features(224, 224))
                    .as(entry)
                    .isEqualTo(Shape.of(Arrays.stream(parts[1].split("x", -1))
                            .mapToLong(Long::parseLong)
                            .toArray()));
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void parametersOfLayerArePrefixOfWholeNetwork(Backbone backbone) {
        List<String> whole = names(backbone.cutAt(backbone.layers().getLast()));
        assertThat(whole).doesNotHaveDuplicates();
        for (String layer : backbone.layers()) {
            List<String> some = names(backbone.cutAt(layer));
            assertThat(some).isEqualTo(whole.subList(0, some.size()));
        }
    }

    private static List<String> names(Backbone backbone) {
        return backbone.parameters().stream().map(ParameterSpec::name).toList();
    }

    @Test
    void torchvisionNamesFilesByTheirSha256() {
        assertThat(PublicFile.all())
                .filteredOn(file -> file.about().startsWith("torchvision"))
                .isNotEmpty()
                .allSatisfy(file ->
                        assertThat(file.file()).endsWith("-" + file.sha256().substring(0, 8) + ".pth"));
    }

    /** Those of other networks are compared with their publishers' by their values. */
    @Test
    void parameterNamesOfVggAreCaffes() {
        assertThat(names(Backbone.of("vgg16", "logits")))
                .startsWith("conv1_1.weight", "conv1_1.bias", "conv1_2.weight")
                .endsWith("fc7.bias", "fc8.weight", "fc8.bias");
    }

    @Test
    void rejectsUnknownNames() {
        assertRejected(() -> Backbone.of("vg16"), "vg16", "vgg16", "efficientnet-lite4", "filters");
        assertRejected(() -> Backbone.of("vgg16", "conv5_4"), "vgg16", "conv5_4", "conv1_1", "conv1_2", "pool1");
    }

    @Test
    void rejectsImageSizesThatDoNotFit() {
        assertRejected(() -> Backbone.of("vgg16").features(9, 300), "9×300", "vgg16:conv5_3", "pool4", "16×16");
        assertThat(Backbone.of("vgg16").features(16, 16)).isEqualTo(Shape.of(512, 1, 1));
        assertRejected(
                () -> Backbone.of("vgg19", "logits").features(448, 448), "448×448", "vgg19:logits", "fc6", "224×224");
        assertThat(Backbone.of("vgg19", "logits").fits(448, 448)).isFalse();
        assertThat(Backbone.of("vgg19").fits(448, 448)).isTrue();
        assertThat(Backbone.of("vgg19").fits(448, 0)).isFalse();
        assertThatThrownBy(() -> Backbone.of("filters").features(0, 5)).has(facts("0×5"));
    }
}
