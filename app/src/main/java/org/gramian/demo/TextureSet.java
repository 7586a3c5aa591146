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
 * A folder of drawn images, a folder for each {@link TextureKind}: {@code stripes/stripes_001.jpg} and so on. The same values
 * give the same bytes.
 *
 * @param images of each class
 * @param side of the square images in pixels
 * @param seed of everything
 */
public record TextureSet(int images, int side, long seed) {
    private static final List<TextureKind> KINDS = List.of(TextureKind.values());
    private static final int LEAST_SIDE = 32;
    private static final int MOST_SIDE = 1024;
    private static final int MOST_PICTURES = 10_000;

    /** @throws IllegalArgumentException if there would be no images, too many, or none that shows a texture */
    public TextureSet {
        if (images < 1 || images > MOST_PICTURES || side < LEAST_SIDE || side > MOST_SIDE) {
            throw new IllegalArgumentException(
                    "expected 1 to %d images of %d to %d pixels for each class, found %d of %d"
                            .formatted(MOST_PICTURES, LEAST_SIDE, MOST_SIDE, images, side));
        }
    }

    /** How many images there are of all classes. */
    public int size() {
        return images * KINDS.size();
    }

    /**
     * Draws what is not there yet, on all cores; every file appears whole.
     *
     * @param folder is made where there is none
     * @param progress told how many images are there, by many threads
     * @param stop asked before each image; once true, the rest is left out
     * @return whether all images are there
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

    /** One image as a JPEG file. */
    byte[] bytes(TextureKind kind, int number) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if (!ImageIO.write(TextureImage.random(kind, generator(kind, number)).draw(side), "jpg", bytes)) {
            throw new IOException("this Java cannot write JPEG files; use one with the module java.desktop");
        }
        return bytes.toByteArray();
    }

    /** A generator for one image: neighbours of a seed give unrelated numbers, so sums of them would clash, hashes do not. */
    private SplittableRandom generator(TextureKind kind, int number) {
        long root = new SplittableRandom(seed).nextLong();
        long branch = new SplittableRandom(root + KINDS.indexOf(kind)).nextLong();
        return new SplittableRandom(branch + number);
    }
}
