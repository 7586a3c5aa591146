package org.gramian.cli;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;

/** A folder of made-up images on disk. */
public record ImageFolder(Path root) {
    /** Two classes of twelve different images each. */
    public static ImageFolder sound(Path root) throws IOException {
        ImageFolder folder = new ImageFolder(root);
        for (int i = 10; i < 22; i++) {
            folder.add("paper/" + i + ".bmp", i).add("stone/" + i + ".bmp", -i);
        }
        return folder;
    }

    /** Three classes of six images each, all of them small: enough for a whole training in a second or two. */
    public static ImageFolder tiny(Path root) throws IOException {
        ImageFolder folder = new ImageFolder(root);
        for (int i = 1; i <= 6; i++) {
            for (String name : new String[] {"paper", "stone", "wood"}) {
                folder.addSmall(name + "/" + i + ".bmp", 100L * name.charAt(0) + i);
            }
        }
        return folder;
    }

    /** Adds an image that its seed alone decides. */
    public ImageFolder add(String name, long seed) throws IOException {
        return add(name, seed, new BufferedImage(240, 230, BufferedImage.TYPE_INT_RGB));
    }

    /** Adds a small image that its seed alone decides. */
    public ImageFolder addSmall(String name, long seed) throws IOException {
        return add(name, seed, new BufferedImage(72, 70, BufferedImage.TYPE_INT_RGB));
    }

    private ImageFolder add(String name, long seed, BufferedImage image) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        double[] waves = random.doubles(6, 0.02, 0.12).toArray();
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                int red = wave(waves[0] * x + waves[1] * y + seed);
                int green = wave(waves[2] * x - waves[3] * y + 2 * seed);
                int blue = wave(waves[4] * x + waves[5] * y + 3 * seed);
                image.setRGB(x, y, red << 16 | green << 8 | blue);
            }
        }
        Path file = file(name);
        if (!ImageIO.write(image, name.substring(name.lastIndexOf('.') + 1), file.toFile())) {
            throw new IllegalArgumentException("no writer for " + name);
        }
        return this;
    }

    private static int wave(double phase) {
        return (int) (128 + 100 * Math.sin(phase));
    }

    /** Adds a file of any content. */
    public ImageFolder add(String name, byte[] content) throws IOException {
        Files.write(file(name), content);
        return this;
    }

    public Path file(String name) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        return file;
    }
}
