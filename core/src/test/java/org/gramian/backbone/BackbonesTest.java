package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    void parametersAreAsManyAsPublished(String name, String layer, long count) {
        assertThat(Backbone.of(name, layer).parameterCount()).isEqualTo(count);
    }

    @Test
    void layersHaveThePublishedShapesAt224() {
        assertThat(shapes("vgg16", 224))
                .containsEntry("conv1_2", "[64, 224, 224]")
                .containsEntry("pool1", "[64, 112, 112]")
                .containsEntry("conv2_2", "[128, 112, 112]")
                .containsEntry("conv3_3", "[256, 56, 56]")
                .containsEntry("conv4_3", "[512, 28, 28]")
                .containsEntry("conv5_3", "[512, 14, 14]")
                .containsEntry("pool5", "[512, 7, 7]")
                .containsEntry("fc7", "[4096, 1, 1]")
                .containsEntry("logits", "[1000, 1, 1]")
                .hasSize(13 + 5 + 3);
        assertThat(shapes("vgg19", 224))
                .containsEntry("conv5_4", "[512, 14, 14]")
                .hasSize(16 + 5 + 3);
        assertThat(shapes("resnet18", 224))
                .containsEntry("conv1", "[64, 112, 112]")
                .containsEntry("maxpool", "[64, 56, 56]")
                .containsEntry("layer1", "[64, 56, 56]")
                .containsEntry("layer2.0", "[128, 28, 28]")
                .containsEntry("layer3", "[256, 14, 14]")
                .containsEntry("layer4", "[512, 7, 7]")
                .containsEntry("avgpool", "[512, 1, 1]");
        assertThat(shapes("resnet50", 224))
                .containsEntry("layer1", "[256, 56, 56]")
                .containsEntry("layer3.4", "[1024, 14, 14]")
                .containsEntry("layer4", "[2048, 7, 7]")
                .hasSize(2 + 16 + 2);
        assertThat(shapes("googlenet", 224))
                .containsEntry("conv1/7x7_s2", "[64, 112, 112]")
                .containsEntry("pool1/3x3_s2", "[64, 56, 56]")
                .containsEntry("conv2/norm2", "[192, 56, 56]")
                .containsEntry("inception_3b", "[480, 28, 28]")
                .containsEntry("inception_4c", "[512, 14, 14]")
                .containsEntry("inception_4e", "[832, 14, 14]")
                .containsEntry("inception_5b", "[1024, 7, 7]")
                .containsEntry("pool5", "[1024, 1, 1]");
        assertThat(shapes("squeezenet", 224))
                .containsEntry("conv1", "[64, 111, 111]")
                .containsEntry("fire3", "[128, 55, 55]")
                .containsEntry("fire5", "[256, 27, 27]")
                .containsEntry("fire9", "[512, 13, 13]")
                .containsEntry("conv10", "[1000, 13, 13]");
        assertThat(shapes("efficientnet-lite4", 224))
                .containsEntry("block0", "[24, 112, 112]")
                .containsEntry("block4", "[32, 56, 56]")
                .containsEntry("block8", "[56, 28, 28]")
                .containsEntry("block14", "[112, 14, 14]")
                .containsEntry("block20", "[160, 14, 14]")
                .containsEntry("block28", "[272, 7, 7]")
                .containsEntry("head_conv", "[1280, 7, 7]")
                .hasSize(1 + 30 + 3);
        assertThat(shapes("resnet50-v1", 224))
                .containsEntry("layer3", "[1024, 14, 14]")
                .containsEntry("layer4", "[2048, 7, 7]")
                .hasSize(2 + 16 + 2);
        assertThat(shapes("mobilenet_v3_large", 224))
                .containsEntry("features.0", "[16, 112, 112]")
                .containsEntry("features.6", "[40, 28, 28]")
                .containsEntry("features.12", "[112, 14, 14]")
                .containsEntry("features.15", "[160, 7, 7]")
                .containsEntry("features.16", "[960, 7, 7]")
                .containsEntry("classifier.0", "[1280, 1, 1]")
                .hasSize(17 + 3);
        assertThat(shapes("efficientnet_v2_s", 224))
                .containsEntry("features.1", "[24, 112, 112]")
                .containsEntry("features.3", "[64, 28, 28]")
                .containsEntry("features.5", "[160, 14, 14]")
                .containsEntry("features.6", "[256, 7, 7]")
                .containsEntry("features.7", "[1280, 7, 7]")
                .hasSize(1 + 40 + 1 + 2);
        assertThat(shapes("convnext_tiny", 224))
                .containsEntry("features.0", "[96, 56, 56]")
                .containsEntry("features.3", "[192, 28, 28]")
                .containsEntry("features.5", "[384, 14, 14]")
                .containsEntry("features.7", "[768, 7, 7]")
                .containsEntry("logits", "[1000, 1, 1]")
                .hasSize(1 + 18 + 3 + 2);
        assertThat(shapes("vit-b16", 224))
                .containsEntry("patch_embed", "[768, 14, 14]")
                .containsEntry("blocks.0", "[768, 14, 14]")
                .containsEntry("norm", "[768, 14, 14]")
                .containsEntry("cls", "[768, 1, 1]")
                .containsEntry("logits", "[1000, 1, 1]")
                .hasSize(1 + 12 + 3);
        assertThat(shapes("dinov2-vits14-reg", 224))
                .containsEntry("norm", "[384, 16, 16]")
                .hasSize(1 + 12 + 2);
        assertThat(shapes("gramian-s", 224))
                .containsEntry("stem", "[32, 112, 112]")
                .containsEntry("layer1", "[64, 56, 56]")
                .containsEntry("layer2", "[128, 28, 28]")
                .containsEntry("layer3", "[256, 14, 14]")
                .containsEntry("layer4", "[256, 14, 14]");
        assertThat(shapes("filters", 224)).containsExactly(Map.entry("bank", "[120, 28, 28]"));
    }

    private static Map<String, String> shapes(String name, int size) {
        Map<String, String> shapes = new LinkedHashMap<>();
        Backbone backbone = Backbone.of(name);
        backbone.layers()
                .forEach(layer -> shapes.put(
                        layer, backbone.cutAt(layer).features(size, size).toString()));
        return shapes;
    }

    @ParameterizedTest
    @MethodSource("all")
    void everyNetworkTellsWhatOneShouldKnow(Backbone backbone) {
        BackboneInfo about = backbone.about();
        assertThat(List.of(
                        about.title(),
                        about.citation(),
                        about.weights().source(),
                        about.weights().licence()))
                .allSatisfy(text -> assertThat(text).isNotBlank());
        assertThat(backbone.layers()).contains(backbone.layer()).doesNotHaveDuplicates();
        assertThat(backbone.preprocessing().mean()).hasSize(3);
        assertThat(backbone.preprocessing().std())
                .hasSize(3)
                .allSatisfy(std -> assertThat(std).isPositive());
        assertThat(backbone.features(about.size(), about.size()).at(1)).isGreaterThan(6);
        assertThat(about.weights().needed()).isEqualTo(backbone.parameterCount() > 0);
    }

    @ParameterizedTest
    @MethodSource("all")
    void parametersHaveDistinctNamesAndThoseOfACutAreTheFirstOfTheWhole(Backbone backbone) {
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
    void parametersGoByTheNamesOfTheirFiles() {
        assertThat(names(Backbone.of("vgg16", "logits")))
                .startsWith("conv1_1.weight", "conv1_1.bias", "conv1_2.weight")
                .endsWith("fc7.bias", "fc8.weight", "fc8.bias");
        assertThat(names(Backbone.of("resnet50", "logits")))
                .startsWith("conv1.weight", "bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var")
                .contains("layer1.0.downsample.0.weight", "layer1.0.downsample.1.running_var", "layer4.2.conv3.weight")
                .doesNotContain("layer1.1.downsample.0.weight", "conv1.bias")
                .endsWith("fc.weight", "fc.bias");
        assertThat(names(Backbone.of("mobilenet_v3_large", "logits")))
                .startsWith("features.0.0.weight", "features.0.1.weight")
                .contains("features.4.block.2.fc1.weight", "features.15.block.3.1.running_var")
                .endsWith("classifier.0.weight", "classifier.0.bias", "classifier.3.weight", "classifier.3.bias");
        assertThat(names(Backbone.of("efficientnet_v2_s", "logits")))
                .contains("features.1.0.block.0.0.weight", "features.6.14.block.2.fc2.bias", "features.7.0.weight")
                .endsWith("classifier.1.weight", "classifier.1.bias");
        assertThat(names(Backbone.of("resnet18"))).contains("layer2.0.downsample.0.weight", "layer4.1.bn2.bias");
        assertThat(names(Backbone.of("resnet18"))).doesNotContain("layer1.0.downsample.0.weight", "fc.weight");
    }

    /** The file of the bundled weights stays below 6 MB in float16, and the features suit second-order pooling. */
    @Test
    void theBundledNetworkIsSmallAndHasManyPositions() {
        Backbone backbone = Backbone.of("gramian-s");
        assertThat(backbone.parameterCount()).isLessThan(2_950_000);
        assertThat(backbone.channels()).isBetween(192L, 320L);
        assertThat(backbone.features(224, 224)).isEqualTo(Shape.of(backbone.channels(), 14, 14));
        assertThat(backbone.features(211, 97).at(1)).isEqualTo(14);
        assertThat(backbone.features(211, 97).at(2)).isEqualTo(7);
    }

    @Test
    void aWrongNameIsAnsweredWithWhatThereIs() {
        assertThatThrownBy(() -> Backbone.of("vg16"))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("vg16", "vgg16", "efficientnet-lite4", "filters"));
        assertThatThrownBy(() -> Backbone.of("vgg16", "conv5_4"))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("vgg16", "conv5_4", "conv1_1", "conv1_2", "pool1"));
    }

    @Test
    void imagesThatDoNotFitAreAnsweredWithASizeThatDoes() {
        assertThatThrownBy(() -> Backbone.of("vgg16").features(9, 300))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("9×300", "vgg16:conv5_3", "pool4", "16×16"));
        assertThat(Backbone.of("vgg16").features(16, 16)).isEqualTo(Shape.of(512, 1, 1));
        assertThatThrownBy(() -> Backbone.of("vgg19", "logits").features(448, 448))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("448×448", "vgg19:logits", "fc6", "224×224"));
        assertThat(Backbone.of("vgg19", "logits").fits(448, 448)).isFalse();
        assertThat(Backbone.of("vgg19").fits(448, 448)).isTrue();
        assertThat(Backbone.of("vgg19").fits(448, 0)).isFalse();
        assertThatThrownBy(() -> Backbone.of("filters").features(0, 5)).has(facts("0×5"));
    }

    @Test
    void backbonesAreEqualWhenNetworkAndLayerAre() {
        assertThat(Backbone.of("vgg16", "conv4_3").cutAt("conv5_3"))
                .isEqualTo(Backbone.of("vgg16"))
                .hasSameHashCodeAs(Backbone.of("vgg16"))
                .hasToString("vgg16:conv5_3")
                .isNotEqualTo(Backbone.of("vgg16", "conv4_3"))
                .isNotEqualTo(Backbone.of("resnet18", "conv1"));
    }
}
