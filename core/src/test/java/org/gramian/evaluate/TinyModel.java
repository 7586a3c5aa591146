package org.gramian.evaluate;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Function;
import javax.imageio.ImageIO;
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
import org.gramian.train.feature.FrozenBackbone;

/** Small images on disk, and a model with random weights that has an opinion about them. */
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

    /** Paints so many images of noise for each class; each class has its own colours. */
    static Path paint(Path root, int each, String... classes) throws IOException {
        for (String name : classes) {
            int colour = Arrays.hashCode(name.toCharArray());
            for (int i = 0; i < each; i++) {
                Path file = root.resolve(name).resolve(i + ".png");
                Files.createDirectories(Objects.requireNonNull(file.getParent()));
                SplittableRandom random = new SplittableRandom(31L * colour + i);
                BufferedImage image = new BufferedImage(30, 32, BufferedImage.TYPE_INT_RGB);
                for (int k = 0; k < 30 * 32; k++) {
                    image.setRGB(k % 30, k / 30, random.nextInt() & (colour | 0x0f0f0f));
                }
                ImageIO.write(image, "png", file.toFile());
            }
        }
        return root;
    }
}
