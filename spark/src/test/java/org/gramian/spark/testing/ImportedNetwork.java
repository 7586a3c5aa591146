package org.gramian.spark.testing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.onnx.OnnxFile;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.backbone.weights.Weights;
import org.gramian.image.crop.Preprocessing;

/** A network that is not built in: the ONNX file of core's tests, see {@code scripts/golden/onnx_backbone.py}. */
public final class ImportedNetwork {
    private static final Path FILE = Path.of("..", "core", "src", "test", "resources", "models", "small-backbone.onnx");

    private ImportedNetwork() {}

    public static Backbone backbone() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            return backbone(OnnxFile.read(FILE, arena));
        }
    }

    private static Backbone backbone(OnnxFile content) {
        return Backbone.of("small", content.graph().definition(), Preprocessing.TORCHVISION);
    }

    /** Installs network and weights in a folder and returns the file, which the setting {@code backbone} takes. */
    public static Path install(Path folder) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            OnnxFile content = OnnxFile.read(FILE, arena);
            return new WeightStore(folder)
                    .install(
                            "small",
                            backbone(content),
                            content.weights(),
                            Preprocessing.TORCHVISION,
                            Weights.Source.of(FILE),
                            _ -> {});
        }
    }
}
