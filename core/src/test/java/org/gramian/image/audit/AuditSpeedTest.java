package org.gramian.image.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.spd.FullResults;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An audit of 10,000 images of 300×300 takes less than 3 minutes with 2 threads; the usual run takes fifty of them. */
class AuditSpeedTest {
    private static final int STATED = 10_000;
    private static final Duration ALLOWED = Duration.ofMinutes(3);
    private static final int SIDE = 300;

    /** Coarse random colours, enlarged smoothly, with grain: as hard to compress as a photograph. */
    private static void write(Path file, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        BufferedImage coarse = new BufferedImage(24, 24, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < 24 * 24; i++) {
            coarse.setRGB(i % 24, i / 24, random.nextInt(1 << 24));
        }
        BufferedImage image = new BufferedImage(SIDE, SIDE, BufferedImage.TYPE_INT_RGB);
        Graphics2D drawing = image.createGraphics();
        drawing.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
        drawing.drawImage(coarse, 0, 0, SIDE, SIDE, null);
        drawing.dispose();
        for (int i = 0; i < SIDE * SIDE; i++) {
            int grain = random.nextInt() & 0x1f1f1f;
            image.setRGB(i % SIDE, i / SIDE, (image.getRGB(i % SIDE, i / SIDE) & 0xe0e0e0) | grain);
        }
        try {
            ImageIO.write(image, "jpg", file.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of this process: tells a slow audit from a machine that is busy with something else. */
    private static long processorTime() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    @Test
    void tenThousandImagesTakeLessThanThreeMinutes(@TempDir Path folder) throws IOException, InterruptedException {
        int images = FullResults.wanted() ? STATED : STATED / 200;
        List<Sample> samples = IntStream.range(0, images)
                .mapToObj(i -> "%05d.jpg".formatted(i))
                .map(name -> new Sample(name, name.hashCode() & 1, folder.resolve(name)))
                .toList();
        samples.parallelStream()
                .forEach(sample -> write(sample.file(), sample.name().hashCode()));
        Dataset dataset = new Dataset(folder, List.of("even", "odd"), samples);
        Audit audit = new Audit(AuditOptions.DEFAULT, new ImageReader(ImageLimits.DEFAULT)::read, 2);

        long busy = processorTime();
        long start = System.nanoTime();
        AuditReport report = audit.of(dataset, _ -> {});
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        Duration worked = Duration.ofNanos(processorTime() - busy);

        assertThat(report.contents().readable()).isEqualTo(images);
        assertThat(report.duplicates()).isEmpty();
        if (FullResults.wanted()) {
            long bytes = Files.size(samples.getFirst().file());
            FullResults.add(
                    AuditSpeedTest.class,
                    String.format(
                            Locale.ROOT,
                            "audit of %,d images of %d×%d (JPEG of about %d kB) with 2 threads: %.1f s, allowed %d s; %.1f s of processor time",
                            images,
                            SIDE,
                            SIDE,
                            bytes / 1000,
                            took.toMillis() / 1000.0,
                            ALLOWED.toSeconds(),
                            worked.toMillis() / 1000.0));
            assertThat(took).isLessThan(ALLOWED);
        }
    }
}
