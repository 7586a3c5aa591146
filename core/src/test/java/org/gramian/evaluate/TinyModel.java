package org.gramian.evaluate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.gramian.backbone.Backbone;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Device;
import org.gramian.testing.PaintedImages;
import org.gramian.train.feature.FrozenBackbone;

/** Small images on disk, and a model with random weights. */
final class TinyModel {
    static final Function<Path, ReadResult> READER = new ImageReader(ImageLimits.DEFAULT)::read;

    private TinyModel() {}

    static Model of(int classes) {
        Backbone backbone = Backbone.of("filters");
        FrozenBackbone frozen = FrozenBackbone.withoutWeights(backbone, Device.CPU);
        Head head = new Head(Pooling.parse("average"), classes, false);
        return Model.begin(backbone, frozen.parameters(), head, new SplittableRandom(3), Device.CPU);
    }

    static ModelCard card(List<String> classes, double temperature, Map<String, String> origin) {
        return new ModelCard(
                classes,
                Backbone.of("filters").preprocessing(),
                CropPlan.parse("paper:24"),
                temperature,
                new LinkedHashMap<>(origin),
                new LinkedHashMap<>());
    }

    /** Writes this many images of each class. */
    static void write(Path root, int each, String... classes) throws IOException {
        for (String name : classes) {
            Files.createDirectories(root.resolve(name));
            for (int i = 0; i < each; i++) {
                PaintedImages.paint(root.resolve(name).resolve(i + ".png"), name.length(), 31L * name.hashCode() + i);
            }
        }
    }
}
