package org.gramian.spark.testing;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;

/** Images of stripes, as wide as their class says: something to learn. */
public final class Stripes {
    private Stripes() {}

    /** Writes so many, PNG. */
    public static List<Path> write(Path folder, int count) throws IOException {
        Files.createDirectories(folder);
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            SplittableRandom random = new SplittableRandom(i);
            double across = 0.1 + 0.35 * label(i) + random.nextDouble(0.1);
            double down = random.nextDouble(0.1);
            BufferedImage image = new BufferedImage(60 + i % 7, 70, BufferedImage.TYPE_INT_RGB);
            for (int y = 0; y < image.getHeight(); y++) {
                for (int x = 0; x < image.getWidth(); x++) {
                    int gray = (int) (118 + 90 * Math.sin(across * x + down * y)) + random.nextInt(40);
                    image.setRGB(x, y, gray << 16 | gray << 8 | gray / 2);
                }
            }
            Path file = folder.resolve(String.format("%05d.png", i));
            ImageIO.write(image, "png", file.toFile());
            files.add(file);
        }
        return files;
    }

    /** The class of an image, an index into {@link SmallModel#CLASSES}. */
    public static int label(int image) {
        return image % SmallModel.CLASSES.size();
    }
}
