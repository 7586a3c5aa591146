package org.gramian.train.feature;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two writers of the same features are killed at random moments, again and again, while a reader looks on.
 *
 * <p>Each pair begins where the one before was killed, so that features are missing, half written, and there twice.
 */
@Timeout(300)
class KilledWriterTest {
    private static final int KILLS = Boolean.getBoolean("gramian.full") ? 50 : 16;
    private static final int AT_ONCE = 2;
    private static final int MOST_NANOSECONDS = 10_000_000;

    @TempDir
    private Path root = Path.of("");

    private final SplittableRandom random = new SplittableRandom(Long.getLong("gramian.seed", 0));

    @Test
    void killingWritersNeverYieldsAWrongFeature() throws IOException, InterruptedException {
        int next = 0;
        try (FeatureCache reader = open()) {
            for (int round = 0; round < KILLS / AT_ONCE; round++) {
                killTwoThatBeginAt(next);
                reader.refresh();
                next += requireRightFrom(next, reader);
            }
        }
        assertThat(next).as("features that came through").isGreaterThan(KILLS);
        assertThat(segments()).hasSizeGreaterThanOrEqualTo(KILLS / AT_ONCE);
        try (FeatureCache again = open()) {
            assertThat(requireRightFrom(0, again)).isEqualTo(next);
            SyntheticFeatures.put(again, next);
            assertThat(requireRightFrom(next, again)).isEqualTo(1);
        }
    }

    private FeatureCache open() throws IOException {
        return FeatureCache.open(root, SyntheticFeatures.recipe(), problem -> {
            throw new AssertionError(problem);
        });
    }

    private void killTwoThatBeginAt(int first) throws IOException, InterruptedException {
        List<Process> writers = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
            writers.add(FeatureWritingProcess.start(root, first));
        }
        for (Process writer : writers) {
            assertThat(writer.inputReader().readLine()).isEqualTo("writing");
            Thread.sleep(Duration.ofNanos(random.nextInt(MOST_NANOSECONDS)));
            writer.destroyForcibly();
        }
        for (Process writer : writers) {
            assertThat(writer.waitFor()).as("exit code of a killed process").isNotZero();
        }
    }

    private List<Path> segments() throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".features")).toList();
        }
    }

    /** Number of features that are there from this one on; every one of them must be right. */
    private static int requireRightFrom(int first, FeatureCache cache) {
        int number = first;
        Optional<MemorySegment> found = find(cache, number);
        while (found.isPresent()) {
            MemorySegment truth = MemorySegment.ofArray(SyntheticFeatures.feature(number));
            assertThat(found.get().mismatch(truth))
                    .as("first wrong byte of feature %d", number)
                    .isEqualTo(-1);
            number++;
            found = find(cache, number);
        }
        return number - first;
    }

    private static Optional<MemorySegment> find(FeatureCache cache, int number) {
        return cache.find(SyntheticFeatures.image(number), SyntheticFeatures.CROP);
    }
}
