package org.gramian.benchmarks;

import java.awt.Color;
import java.awt.GradientPaint;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.gramian.image.PictureLimits;
import org.gramian.image.PictureReader;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.batch.Work;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.dataset.Sample;

/** JPEG files of 512×384 through the loader: decoded, brought to a short side of 256, the middle cut out. */
final class PicturesTask implements Task {
    /** Pictures per second that the loader must be able to deliver with two threads. */
    static final int ASKED = 150;

    private static final int WIDTH = 512;
    private static final int HEIGHT = 384;

    private final Path folder;
    private final List<Work> list;
    private final Rendering rendering;
    private final Prefetch prefetch;

    PicturesTask(TaskSpec spec) {
        Crops crops = CropPlan.parse("center").withSize(spec.number("pixels")).testing();
        this.prefetch = new Prefetch(16, spec.number("threads"), 3);
        this.rendering =
                new Rendering(new PictureReader(PictureLimits.DEFAULT)::read, crops, Preprocessing.TORCHVISION);
        try {
            this.folder = Files.createTempDirectory("gramian-pictures");
            this.list = Work.all(paint(spec.number("batch")), crops);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Sample> paint(int count) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Path file = folder.resolve(i + ".jpg");
            ImageIO.write(scene(random), "jpg", file.toFile());
            samples.add(new Sample(file.getFileName().toString(), 0, file));
        }
        return samples;
    }

    /** Gradients, many shapes and some noise: about the 60 kB that a photograph of this size takes. */
    private static BufferedImage scene(SplittableRandom random) {
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        for (int i = 0; i < 300; i++) {
            int x = random.nextInt(WIDTH);
            int y = random.nextInt(HEIGHT);
            int size = random.nextInt(5, 120);
            graphics.setPaint(new GradientPaint(x, y, colour(random), x + size, y + size, colour(random)));
            graphics.fillOval(x - size / 2, y - size / 2, size, size);
        }
        graphics.dispose();
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                image.setRGB(x, y, image.getRGB(x, y) ^ random.nextInt(8) * 0x010101);
            }
        }
        return image;
    }

    private static Color colour(SplittableRandom random) {
        return new Color(random.nextInt(1 << 24));
    }

    @Override
    public SequencedMap<String, Double> check() {
        SequencedMap<String, Double> numbers = new LinkedHashMap<>();
        numbers.put("pictures", (double) load());
        return numbers;
    }

    @Override
    public void run() {
        if (load() != list.size()) {
            throw new IllegalStateException("not all pictures could be read");
        }
    }

    /** Number of pictures that came through. */
    private long load() {
        long loaded = 0;
        try (BatchLoader loader = new BatchLoader(rendering, list, prefetch)) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    loaded += batch.places().stream()
                            .filter(place -> place.problem().isEmpty())
                            .count();
                }
            }
        }
        return loaded;
    }

    @Override
    public void close() {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
