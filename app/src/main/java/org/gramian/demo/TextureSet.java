package org.gramian.demo;

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
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.gramian.basis.AtomicFile;

/**
 * Dataset of synthetic images with a folder for each {@link TextureKind}: {@code stripes/stripes_001.jpg} and so on. Equal
 * values give equal bytes.
 *
 * @param images of each class
 * @param side of the square images in pixels
 * @param seed of all random numbers
 */
public record TextureSet(int images, int side, long seed) {
    private static final List<TextureKind> KINDS = List.of(TextureKind.values());
    private static final int LEAST_SIDE = 32;
    private static final int MOST_SIDE = 1024;
    private static final int MOST_IMAGES = 10_000;

    /** @throws IllegalArgumentException if the number or size of the images is out of range */
    public TextureSet {
        if (images < 1 || images > MOST_IMAGES || side < LEAST_SIDE || side > MOST_SIDE) {
            throw new IllegalArgumentException(
                    "expected 1 to %d images of %d to %d pixels for each class, found %d of %d"
                            .formatted(MOST_IMAGES, LEAST_SIDE, MOST_SIDE, images, side));
        }
    }

    /** Returns the number of images of all classes. */
    public int size() {
        return images * KINDS.size();
    }

    /**
     * Writes the missing images on all cores, each file atomically.
     *
     * @param folder created if missing
     * @param progress receives the number of images present, from many threads
     * @param stop checked before each image; once true, the rest is skipped
     * @return whether all images are present
     */
    public boolean write(Path folder, LongConsumer progress, BooleanSupplier stop) throws IOException {
        for (TextureKind kind : KINDS) {
            AtomicFile.sweep(Files.createDirectories(folder.resolve(kind.folder())));
        }
        AtomicLong there = new AtomicLong();
        try {
            IntStream.range(0, size())
                    .parallel()
                    .filter(_ -> !stop.getAsBoolean())
                    .forEach(i -> {
                        write(folder, KINDS.get(i / images), i % images);
                        progress.accept(there.incrementAndGet());
                    });
        } catch (UncheckedIOException failed) {
            throw Objects.requireNonNull(failed.getCause());
        }
        return there.get() == size();
    }

    private void write(Path folder, TextureKind kind, int number) {
        Path file = folder.resolve(kind.folder())
                .resolve(String.format(Locale.ROOT, "%s_%03d.jpg", kind.folder(), number + 1));
        if (Files.exists(file)) {
            return;
        }
        try {
            byte[] bytes = bytes(kind, number);
            AtomicFile.put(file, partial -> Files.write(partial, bytes));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Returns an image as a JPEG file. */
    byte[] bytes(TextureKind kind, int number) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if (!ImageIO.write(new TextureImage(kind, generator(kind, number)).draw(side), "jpg", bytes)) {
            throw new IOException("this Java cannot write JPEG files; use one with the module java.desktop");
        }
        return bytes.toByteArray();
    }

    /** Returns the generator of one image; hashing keeps the streams of neighbouring seeds and numbers apart. */
    private SplittableRandom generator(TextureKind kind, int number) {
        long root = new SplittableRandom(seed).nextLong();
        long branch = new SplittableRandom(root + KINDS.indexOf(kind)).nextLong();
        return new SplittableRandom(branch + number);
    }
}
