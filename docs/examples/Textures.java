import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;

/** Draws the images of {@code docs/examples/textures}: {@code java docs/examples/Textures.java docs/examples/textures}. */
class Textures {
    private static final int SIZE = 96;
    private static final int PICTURES = 12;

    /** Brightness at a place, before noise. */
    private interface Texture {
        double at(double x, double y);
    }

    private static Texture texture(String name, SplittableRandom random) {
        double period = random.nextDouble(9, 16);
        double angle = random.nextDouble(-0.5, 0.5);
        double phase = random.nextDouble(2 * Math.PI);
        double along = 2 * Math.PI * Math.cos(angle) / period;
        double across = 2 * Math.PI * Math.sin(angle) / period;
        return switch (name) {
            case "striped" -> (x, y) -> Math.sin(along * x + across * y + phase);
            case "chequered" -> (x, y) -> Math.signum(
                    Math.sin(along * x + across * y + phase) * Math.sin(along * y - across * x + phase));
            case "dotted" -> (x, y) ->
                    Math.cos(along * x + across * y + phase) + Math.cos(along * y - across * x + phase) > 0.9 ? 1 : -1;
            default -> throw new IllegalArgumentException(name);
        };
    }

    public static void main(String[] arguments) throws IOException {
        SplittableRandom random = new SplittableRandom(7);
        for (String name : new String[] {"chequered", "dotted", "striped"}) {
            Path folder = Files.createDirectories(Path.of(arguments[0], name));
            for (int i = 1; i <= PICTURES; i++) {
                Texture texture = texture(name, random);
                double[] base = random.doubles(3, 70, 185).toArray();
                double[] swing = random.doubles(3, 25, 65).toArray();
                BufferedImage image = new BufferedImage(SIZE, SIZE, BufferedImage.TYPE_INT_RGB);
                for (int y = 0; y < SIZE; y++) {
                    for (int x = 0; x < SIZE; x++) {
                        int rgb = 0;
                        for (int c = 0; c < 3; c++) {
                            double value = base[c] + swing[c] * texture.at(x, y) + random.nextDouble(-10, 10);
                            rgb = rgb << 8 | (int) Math.clamp(value, 0, 255);
                        }
                        image.setRGB(x, y, rgb);
                    }
                }
                ImageIO.write(image, "jpg", new File(folder.toFile(), "%s_%02d.jpg".formatted(name, i)));
            }
        }
    }
}
