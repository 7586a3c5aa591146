package org.gramian.backbone.weights;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.backbone.weights.Naming.Publisher;
import org.gramian.image.crop.Preprocessing;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class NamingTest {
    static Stream<String> architectures() {
        return WeightName.architectures().stream();
    }

    @ParameterizedTest
    @MethodSource("architectures")
    void everyNamingHasOnePlaceForEachParameterAndNoneTwice(String architecture) {
        ExpectedParameters blueprint = ExpectedParameters.of(architecture);
        for (Naming naming : Naming.known(blueprint)) {
            assertThat(naming.names().keySet())
                    .as(naming.publisher().label())
                    .containsExactlyElementsOf(blueprint.parameters().keySet());
            assertThat(naming.names().values()).as(naming.publisher().label()).doesNotHaveDuplicates();
        }
    }

    /** As published: the numbers of the modules in torchvision's lists. */
    @ParameterizedTest
    @CsvSource({
        "vgg16, '0 2 5 7 10 12 14 17 19 21 24 26 28'",
        "vgg19, '0 2 5 7 10 12 14 16 19 21 23 25 28 30 32 34'",
    })
    void torchvisionsNumbersOfVggAreThePublishedOnes(String architecture, String numbers) {
        List<String> expected = new ArrayList<>();
        for (String number : numbers.split(" ", -1)) {
            expected.add("features." + number + ".weight");
            expected.add("features." + number + ".bias");
        }
        for (int number : new int[] {0, 3, 6}) {
            expected.add("classifier." + number + ".weight");
            expected.add("classifier." + number + ".bias");
        }
        assertThat(names(architecture, Publisher.TORCHVISION)).isEqualTo(expected);
    }

    @Test
    void someNamesOfEachPublisherAreAsPublished() {
        assertThat(names("vgg19", Publisher.OWN_NAMES))
                .contains("conv5_4.weight")
                .endsWith("fc8.weight", "fc8.bias");
        assertThat(names("resnet50", Publisher.TORCHVISION))
                .hasSize(267)
                .contains(
                        "bn1.running_var",
                        "layer1.0.downsample.0.weight",
                        "layer1.0.downsample.1.running_mean",
                        "layer4.2.bn3.bias")
                .endsWith("fc.weight", "fc.bias");
        assertThat(names("resnet18", Publisher.TORCHVISION)).hasSize(102).contains("layer2.0.downsample.1.weight");
        assertThat(names("squeezenet", Publisher.TORCHVISION))
                .hasSize(52)
                .startsWith("features.0.weight", "features.0.bias", "features.3.squeeze.weight")
                .contains("features.12.expand3x3.bias", "features.7.expand1x1.weight")
                .endsWith("classifier.1.weight", "classifier.1.bias");
        assertThat(names("googlenet", Publisher.OWN_NAMES))
                .startsWith("conv1/7x7_s2.weight")
                .contains("inception_3a/3x3_reduce.weight")
                .endsWith("loss3/classifier.weight", "loss3/classifier.bias");
    }

    /** As in timm's files; PublishedNetworksTest compares those of torchvision and DINOv2. */
    @Test
    void namesOfTimmAreAsPublished() {
        assertThat(names("vit-s16", Publisher.timm(Preprocessing.CENTRED)))
                .contains("cls_token", "pos_embed", "patch_embed.proj.weight", "blocks.0.attn.qkv.bias", "head.bias");
        assertThat(names("convnext_tiny", Publisher.timm(Preprocessing.TORCHVISION)))
                .contains("stem.0.weight", "stages.0.blocks.0.conv_dw.weight", "stages.3.downsample.1.bias")
                .contains("stages.2.blocks.8.gamma", "stages.3.blocks.2.mlp.fc2.weight", "head.norm.weight");
    }

    private static List<String> names(String architecture, Publisher publisher) {
        return Naming.known(ExpectedParameters.of(architecture)).stream()
                .filter(naming -> naming.publisher().equals(publisher))
                .flatMap(naming -> naming.names().values().stream())
                .toList();
    }
}
