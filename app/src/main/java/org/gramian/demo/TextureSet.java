package org.gramian.demo;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.gramian.basis.AtomicFile;

/**
 * Dataset of synthetic images whose classes differ in co-occurrence only. Every image shows round patches with stripes, dots or
 * checks in red, green or blue. Every class has the same share of each pattern and of each colour; it differs in which colour goes
 * with which pattern. Patterns cover half of a patch, so that the mean colour does not depend on the class either.
 *
 * <p>Equal values give equal bytes on every machine; no fonts or display are needed. An image does not depend on the number of images.
 */
public record TextureSet(int images, int side, long seed) {
    /** Names of the colours in the order of the RGB channels. */
    private static final List<String> COLOURS = List.of("red", "green", "blue");

    /** Colours of stripes, dots and checks in each class. */
    private static final List<List<Integer>> PAIRINGS = List.of(
            List.of(0, 1, 2), List.of(0, 2, 1), List.of(1, 0, 2), List.of(1, 2, 0), List.of(2, 0, 1), List.of(2, 1, 0));

    /** Number of patches in a row and in a column. */
    private static final int GRID = 5;

    /** Share of patches whose colour is random, in all classes. */
    private static final double UNPAIRED = 0.3;

    private static final int LEAST_SIDE = 32;
    private static final int MAX_SIDE = 1024;
    private static final int MAX_IMAGES = 10_000;

    public TextureSet {
        if (images < 1 || images > MAX_IMAGES || side < LEAST_SIDE || side > MAX_SIDE) {
            throw new IllegalArgumentException(
                    "expected 1 to %d images of %d to %d pixels for each class, found %d of %d"
                            .formatted(MAX_IMAGES, LEAST_SIDE, MAX_SIDE, images, side));
        }
    }

    /** Returns the names of the classes: the colours of stripes, dots and checks, e.g. {@code red-green-blue}. */
    public static List<String> classes() {
        return PAIRINGS.stream()
                .map(colours -> colours.stream().map(COLOURS::get).collect(Collectors.joining("-")))
                .toList();
    }

    /** Returns the number of images of all classes. */
    public int size() {
        return images * PAIRINGS.size();
    }

    /**
     * Writes the missing images on all cores, each file atomically, as {@code red-green-blue/001.jpg}.
     *
     * @param progress receives the number of images present, from many threads
     * @param stop checked before each image; once true, the rest is skipped
     */
    public boolean write(Path folder, LongConsumer progress, BooleanSupplier stop) throws IOException {
        for (String name : classes()) {
            AtomicFile.sweep(Files.createDirectories(folder.resolve(name)));
        }
        AtomicLong there = new AtomicLong();
        try {
            IntStream.range(0, size())
                    .parallel()
                    .filter(_ -> !stop.getAsBoolean())
                    .forEach(i -> {
                        write(folder, i / images, i % images);
                        progress.accept(there.incrementAndGet());
                    });
        } catch (UncheckedIOException failed) {
            throw Objects.requireNonNull(failed.getCause());
        }
        return there.get() == size();
    }

    private void write(Path folder, int label, int number) {
        Path file = folder.resolve(classes().get(label)).resolve(String.format(Locale.ROOT, "%03d.jpg", number + 1));
        if (Files.exists(file)) {
            return;
        }
        try {
            byte[] bytes = bytes(label, number);
            AtomicFile.put(file, partial -> Files.write(partial, bytes));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Returns an image as a JPEG file. */
    byte[] bytes(int label, int number) throws IOException {
        long root = new SplittableRandom(seed).nextLong(); // hashed: neighbouring seeds have no image in common
        SplittableRandom random = new SplittableRandom(new SplittableRandom(root + label).nextLong() + number);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if (!ImageIO.write(draw(PAIRINGS.get(label), random), "jpg", bytes)) {
            throw new IOException("this Java cannot write JPEG files; use one with the module java.desktop");
        }
        return bytes.toByteArray();
    }

    /** Draws patches on a background between two colours, under uneven light and with noise. */
    private BufferedImage draw(List<Integer> pairing, SplittableRandom random) {
        Patch[] patches = new Patch[GRID * GRID];
        for (int i = 0; i < patches.length; i++) {
            int pattern = random.nextInt(COLOURS.size());
            int colour = random.nextDouble() < UNPAIRED ? random.nextInt(COLOURS.size()) : pairing.get(pattern);
            patches[i] = Patch.of(pattern, colour, random);
        }
        double[] left = random.doubles(3, 70, 200).toArray();
        double[] right = random.doubles(3, 70, 200).toArray();
        double light = random.nextDouble(0.7, 1.2);
        double across = random.nextDouble(-0.5, 0.5);
        double down = random.nextDouble(-0.5, 0.5);
        double noise = random.nextDouble(10, 40);
        BufferedImage image = new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < side * side; i++) {
            double x = (i % side + 0.5) / side;
            int row = i / side;
            double y = (row + 0.5) / side;
            double[] patch = patches[((int) (y * GRID)) * GRID + (int) (x * GRID)].at(x * GRID % 1, y * GRID % 1);
            int rgb = 0;
            for (int channel = 0; channel < 3; channel++) {
                double value = patch.length > 0 ? patch[channel] : left[channel] + (right[channel] - left[channel]) * x;
                value *= light + across * (x - 0.5) + down * (y - 0.5);
                value += noise * (random.nextDouble() + random.nextDouble() - 1);
                rgb = rgb << 8 | (int) Math.clamp(value, 0.0, 255.0);
            }
            image.setRGB(i % side, i / side, rgb);
        }
        return image;
    }

    /** Round patch in a cell of the grid, whose side is 1. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Patch(
            int pattern,
            double x,
            double y,
            double radius,
            double cosine,
            double sine,
            double period,
            double[] ink,
            double[] paper) {
        static Patch of(int pattern, int colour, SplittableRandom random) {
            double angle = random.nextDouble(StrictMath.PI);
            double brightest = random.nextDouble(90, 180);
            double[] ink = random.doubles(3, 0.2 * brightest, 0.7 * brightest).toArray();
            ink[colour] = brightest;
            double grey = random.nextDouble(150, 240);
            return new Patch(
                    pattern,
                    random.nextDouble(0.4, 0.6),
                    random.nextDouble(0.4, 0.6),
                    random.nextDouble(0.4, 0.55),
                    StrictMath.cos(angle),
                    StrictMath.sin(angle),
                    random.nextDouble(0.18, 0.28),
                    ink,
                    new double[] {grey, grey, grey});
        }

        /** Returns the colour at a point of the cell; empty outside the patch. */
        double[] at(double column, double row) {
            double dx = column - x;
            double dy = row - y;
            if (dx * dx + dy * dy > radius * radius) {
                return new double[0];
            }
            double u = (cosine * dx - sine * dy) / period + 8; // + 8: positive
            double v = (sine * dx + cosine * dy) / period + 8;
            double a = u % 1 - 0.5;
            double b = v % 1 - 0.5;
            boolean inked = switch (pattern) {
                case 0 -> a > 0;
                case 1 -> a * a + b * b < 0.5 / StrictMath.PI;
                default -> a > 0 == b > 0;
            };
            return inked ? ink : paper;
        }
    }
}
