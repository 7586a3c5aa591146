package org.gramian.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.onnx.OnnxFile;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Networks of PyTorch's exporter, see {@code scripts/golden/onnx_small.py}, imported and exported again. */
class ImportedExportTest {
    private static final Path RESOURCES = Path.of("..", "core", "src", "test", "resources");

    @TempDir
    private Path folder = Path.of("");

    private static Path golden(String name) {
        return RESOURCES.resolve("golden").resolve("onnx").resolve(name + ".onnx");
    }

    private static Backbone backbone(Path network) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            String definition = OnnxFile.read(network, arena).graph().definition();
            return Backbone.of("imported", definition, Preprocessing.TORCHVISION);
        }
    }

    private static ParameterSet weights(Path network, Backbone cut) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            var weights = OnnxFile.read(network, arena).weights();
            List<ParameterSpec> stored = cut.parameters().stream()
                    .map(spec -> new ParameterSpec(
                            spec.name(),
                            spec.shape(),
                            spec.role(),
                            (_, _, _) -> Objects.requireNonNull(weights.get(spec.name()), spec.name())
                                    .toTensor()))
                    .toList();
            return ParameterSet.initialize(stored, new SplittableRandom(1), DType.F32, Device.CPU);
        }
    }

    /** Compares a model with the weights of the file, for one image and for several. */
    private void requireAgreement(Path network, Backbone cut, String pooling, int side, int opset) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        try (SmallModel small = SmallModel.of(cut, weights(network, cut), pooling, side, false, random)) {
            small.requireAgreement(folder, opset, 1, 3);
        }
    }

    /** Sizes and batches that differ from those of the file, where it allows them; every fourth layer unless {@code --full}. */
    @ParameterizedTest
    @CsvSource({
        "kitchen, 32, 17",
        "kitchen, 45, 13",
        "vit, 32, 17",
        "vit-fixed, 32, 21",
        "swin-fixed, 32, 13",
        "convnext, 45, 18"
    })
    void everyLayerAgrees(String name, int side, int opset) throws IOException {
        Backbone backbone = backbone(golden(name));
        List<String> layers = backbone.layers();
        int step = Boolean.getBoolean("gramian.full") ? 1 : 4;
        for (int i = side % step; i < layers.size(); i += step) {
            requireAgreement(golden(name), backbone.cutAt(layers.get(i)), "average/l2", side, opset);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "relu_1, conv:4/rbf/spd:3/relu/triu/root/l2",
        "block.relu_1, tail/l2",
        "block.relu_1+relu_1, '[layer:relu_1/average+tail]/l2'"
    })
    void tailsBranchesAndLayersAgree(String layers, String pooling) throws IOException {
        Path network = RESOURCES.resolve("models").resolve("small-backbone.onnx");
        requireAgreement(network, backbone(network).cutAt(layers), pooling, 51, ExportedFile.DEFAULT_OPSET);
    }

    /** Full networks that {@code scripts/golden/onnx_networks.py} wrote into a folder, imported and exported. */
    @Test
    @EnabledIfSystemProperty(named = "gramian.test.onnx", matches = ".+")
    void fullNetworksAgree() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("gramian.test.onnx")))) {
            for (Path file :
                    files.filter(f -> f.toString().endsWith(".onnx")).sorted().toList()) {
                Backbone backbone = backbone(file);
                Backbone whole = backbone.cutAt(backbone.layers().getLast());
                int side = backbone.about().size();
                try (ForeignNetwork reference = ForeignNetwork.open(file);
                        ParameterSet parameters = weights(file, whole)) {
                    float[] noise = new float[reference.batch() * 3 * side * side];
                    SplittableRandom random = new SplittableRandom(3);
                    for (int i = 0; i < noise.length; i++) {
                        noise[i] = (float) random.nextGaussian();
                    }
                    assertThat(reference.difference(whole, parameters, false, noise, side))
                            .as("%s", file)
                            .isLessThan(1e-4);
                }
                for (Backbone cut : List.of(backbone, whole)) {
                    requireAgreement(file, cut, "average/l2", side, ExportedFile.DEFAULT_OPSET);
                }
            }
        }
    }
}
