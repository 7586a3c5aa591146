package org.gramian.spark.testing;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensors;

/** A model that was never trained but tells its classes apart, and images for it, some of which are broken. */
public final class SmallModel {
    public static final List<String> CLASSES = List.of("fabric", "foliage", "glass");

    /** A seed whose model does not say the same of all {@link #images}. */
    public static final long SEED = 4;

    public static final double TEMPERATURE = 0.7;

    /** One pixel of lossless WebP: only a plugin of ImageIO reads it, which must be found on every class path. */
    private static final byte[] WEBP = Base64.getDecoder().decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==");

    private SmallModel() {}

    /** Writes the model that a seed decides. */
    public static Path write(Path file, long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        Backbone backbone = Backbone.of("filters");
        ParameterSet filters = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
        Head head = new Head(Pooling.parse("conv:4/rbf/spd:3/relu/triu/root/l2"), CLASSES.size(), false);
        try (Model model = Model.begin(backbone, filters, head, random, Device.CPU)) {
            Parameter weight = model.headParameters().get("classifier.weight");
            weight.set(Tensors.gaussian(random, weight.value().shape(), DType.F32));
            ModelFile.write(
                    file,
                    model,
                    new ModelCard(
                            CLASSES,
                            backbone.preprocessing(),
                            CropPlan.parse("center:48"),
                            TEMPERATURE,
                            new LinkedHashMap<>(),
                            new LinkedHashMap<>()));
        }
        return file;
    }

    /** Writes images, PNG but one WebP; every {@code broken}-th is cut off, empty, too thin or no image at all. */
    public static List<Path> images(Path folder, int count, int broken) throws IOException {
        Files.createDirectories(folder);
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Path file = folder.resolve(String.format("%05d.png", i));
            ImageIO.write(waves(i, 60 + i % 7, 70), "png", file.toFile());
            if (i == 1) {
                Files.write(file, WEBP);
            }
            if (i % broken == broken - 1) {
                spoil(file, i / broken % 4);
            }
            files.add(file);
        }
        return files;
    }

    private static void spoil(Path file, int way) throws IOException {
        byte[] content = Files.readAllBytes(file);
        byte[] spoiled = switch (way) {
            case 0 -> new byte[0];
            case 1 -> Arrays.copyOf(content, content.length / 2);
            case 2 -> "no image".getBytes(StandardCharsets.UTF_8);
            default -> thin();
        };
        Files.write(file, spoiled);
    }

    private static byte[] thin() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(waves(1, 400, 3), "png", out);
        return out.toByteArray();
    }

    private static BufferedImage waves(long seed, int width, int height) {
        SplittableRandom random = new SplittableRandom(seed);
        double across = random.nextDouble(0.02, 0.4);
        double down = random.nextDouble(0.02, 0.4);
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int gray = (int) (128 + 90 * Math.sin(across * x + down * y)) + random.nextInt(20);
                image.setRGB(x, y, gray << 16 | (255 - gray) << 8 | gray / 2);
            }
        }
        return image;
    }
}
