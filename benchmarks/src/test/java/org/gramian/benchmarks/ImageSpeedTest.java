package org.gramian.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import org.gramian.benchmarks.WorkloadResult.Timing;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Two threads load at least 150 images of 512×384 in a second; in a full run only, for it needs a quiet machine. */
@EnabledIfSystemProperty(named = "gramian.full", matches = "true", disabledReason = "it needs a quiet machine")
class ImageSpeedTest {
    private static final int THREADS = 2;
    private static final int WARM_UPS = 3;
    private static final int RUNS = 7;

    @Test
    void atLeast150ImagesAreLoadedPerSecond() throws IOException {
        TaskSpec spec =
                Tiny.spec(BenchWorkload.IMAGES).with(Map.of("threads", "" + THREADS, "batch", "150", "pixels", "224"));
        List<Double> seconds = new ArrayList<>();
        try (Task task = new ImagesTask(spec)) {
            for (int run = -WARM_UPS; run < RUNS; run++) {
                long start = System.nanoTime();
                task.run();
                double took = (System.nanoTime() - start) / 1e9;
                if (run >= 0) {
                    seconds.add(took);
                }
            }
        }
        Timing timing = new Timing("Gramian", seconds, OptionalLong.empty(), new LinkedHashMap<>());
        double rate = spec.number("batch") / timing.median();
        record(String.format(
                Locale.ROOT,
                "%s with %d threads: %.0f per second, at least %d are required; median of %d runs",
                BenchWorkload.IMAGES.title(spec),
                THREADS,
                rate,
                ImagesTask.REQUIRED,
                RUNS));
        assertThat(rate).as("images per second").isGreaterThanOrEqualTo(ImagesTask.REQUIRED);
    }

    /** Where {@code ./verify --full} collects such lines. */
    private static void record(String line) throws IOException {
        Path folder = Files.createDirectories(Path.of("target", "full-results"));
        Files.writeString(folder.resolve("PictureSpeedTest.md"), "- " + line + "\n");
    }
}
