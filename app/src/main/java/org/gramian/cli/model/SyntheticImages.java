package org.gramian.cli.model;

import java.awt.image.BufferedImage;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.image.Image;

/** Images that a seed alone decides, for checks where no real ones are given: waves of colour with noise on them. */
final class SyntheticImages {
    static final int COUNT = 4;

    private static final int WIDTH = 320;
    private static final int HEIGHT = 256;
    private static final int NOISE = 48;

    private SyntheticImages() {}

    static List<Image> all() {
        return IntStream.rangeClosed(1, COUNT).mapToObj(SyntheticImages::paint).toList();
    }

    private static Image paint(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] waves = random.doubles(6, -0.15, 0.15).toArray();
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                int colour = 0;
                for (int c = 0; c < 3; c++) {
                    double wave = StrictMath.sin(waves[2 * c] * x + waves[2 * c + 1] * y + seed);
                    int value = (int) (127 + 100 * wave) + random.nextInt(-NOISE, NOISE);
                    colour = colour << 8 | Math.clamp(value, 0, 255);
                }
                image.setRGB(x, y, colour);
            }
        }
        return Image.of(image);
    }
}
