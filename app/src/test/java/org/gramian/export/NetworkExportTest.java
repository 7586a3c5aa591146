package org.gramian.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.backbone.Backbone;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NetworkExportTest {
    @TempDir
    private Path folder = Path.of("");

    private void requireAgreement(Backbone backbone, String pooling, int side, int opset) throws IOException {
        try (SmallModel small = SmallModel.of(backbone, pooling, side, false)) {
            small.requireAgreement(folder, opset, 2);
        }
    }

    /** Odd and even sides: where windows do not fit, padding and rounding up differ. */
    @ParameterizedTest
    @CsvSource({
        "filters, bank, 32",
        "filters, bank, 45",
        "googlenet, inception_4a, 64",
        "googlenet, inception_3b, 75",
        "squeezenet, fire6, 64",
        "squeezenet, fire5, 71",
        "efficientnet-lite4, block8, 64",
        "efficientnet-lite4, block8, 51",
        "resnet18, layer2, 64",
        "resnet50, layer1, 49",
        "resnet50-v1, layer2.0, 49",
        "mobilenet_v3_large, features.12, 64",
        "mobilenet_v3_large, classifier.0, 51",
        "efficientnet_v2_s, features.3, 64",
        "efficientnet_v2_s, features.4.1, 51",
        "gramian-s, layer4, 64",
        "gramian-s, layer4, 75",
        "vit-s16, blocks.1, 40",
        "vit-s16, patch_embed, 33",
        "dinov2-vits14, blocks.0, 45",
        "dinov2-vits14-reg, blocks.1, 45",
        "convnext_tiny, features.2, 45",
        "vgg16, conv2_2, 32"
    })
    void everyNetworkAgrees(String network, String layer, int side) throws IOException {
        Backbone backbone = Backbone.of(network);
        Backbone cut = backbone.layers().contains(layer) ? backbone.cutAt(layer) : backbone;
        assertThat(cut.layer())
                .as("a layer of %s: %s", network, backbone.layers())
                .isEqualTo(layer);
        requireAgreement(cut, "average/l2", side, ExportedFile.DEFAULT_OPSET);
    }

    @Test
    void networkTailAgrees() throws IOException {
        requireAgreement(Backbone.of("squeezenet", "fire8"), "tail/l2", 64, ExportedFile.DEFAULT_OPSET);
    }

    @Test
    void crossLayerPoolingAgrees() throws IOException {
        Backbone backbone = Backbone.of("squeezenet", "fire6+fire7");
        requireAgreement(backbone, "cross/root/l2", 64, ExportedFile.DEFAULT_OPSET);
    }

    /** Sizes of which one is not a multiple of the other, and a tail that undoes the resizing. */
    @ParameterizedTest
    @CsvSource({
        "squeezenet, fire3+fire5+fire9, 64, average/l2, 13",
        "squeezenet, fire4+fire8, 75, [tail/l2+average]/l2/scale, 18",
        "vit-s16, blocks.1+cls, 48, '[layer:cls/average+layer:blocks.1/covariance/isqrt:3/triu]', 17",
        "efficientnet-lite4, block8+block12, 51, [layer:block12/average+average/l2/scale:3], 21"
    })
    void layersOfDifferentSizesAgree(String network, String layers, int side, String pooling, int opset)
            throws IOException {
        requireAgreement(Backbone.of(network, layers), pooling, side, opset);
    }

    @ParameterizedTest
    @ValueSource(ints = {13, 14, 15, 16, 18, 19, 20, 21})
    void everySupportedOperatorSetAgrees(int opset) throws IOException {
        String pooling = "conv:6/[rbf/spd:4/relu/triu/root/l2+gaussian/isqrt:3/flat+mop:2+max]/l2";
        requireAgreement(Backbone.of("filters"), pooling, 32, opset);
    }
}
