package org.gramian.train.feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.train.feature.FeatureCaches.Pruned;
import org.gramian.train.feature.FeatureCaches.Rule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FeatureCachesTest {
    private static final FeatureRecipe OLD =
            new FeatureRecipe("made-up", "old", "0123abcd", Preprocessing.CAFFE, DType.F32, "none");
    private static final FeatureRecipe NEW =
            new FeatureRecipe("made-up", "new", "0123abcd", Preprocessing.CAFFE, DType.F32, "none");

    @TempDir
    private Path root = Path.of("");

    private Path fill(FeatureRecipe recipe, int number, int daysAgo) throws IOException {
        List<Path> before = files();
        try (FeatureCache cache = FeatureCache.open(root, recipe, _ -> {})) {
            SyntheticFeatures.put(cache, number);
        }
        Path file = files().stream()
                .filter(one -> !before.contains(one))
                .findFirst()
                .orElseThrow();
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofDays(daysAgo))));
        return file;
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(file -> file.toString().endsWith(".features")).toList();
        }
    }

    @Test
    void leastRecentlyUsedFilesAreRemovedFirst() throws IOException {
        Path oldest = fill(OLD, 1, 3);
        Path middle = fill(NEW, 2, 2);
        Path newest = fill(NEW, 3, 1);
        long newer = Files.size(middle) + Files.size(newest);
        long oldBytes = Files.size(oldest);
        Pruned counted = FeatureCaches.prune(root, new Rule(Instant.MIN, newer, true));
        assertThat(counted).isEqualTo(new Pruned(1, oldBytes, newer, 0));
        assertThat(files()).as("a dry run removes nothing").hasSize(3);
        assertThat(FeatureCaches.prune(root, Rule.atMost(newer))).isEqualTo(counted);
        assertThat(files()).containsExactlyInAnyOrder(middle, newest);
        assertThat(oldest.getParent()).as("a folder without features").doesNotExist();
        assertThat(FeatureCaches.list(root)).singleElement().satisfies(entry -> {
            assertThat(entry.files()).isEqualTo(2);
            assertThat(entry.bytes()).isEqualTo(newer);
        });
        Instant before = Instant.now().minus(Duration.ofHours(36));
        assertThat(FeatureCaches.prune(root, new Rule(before, Long.MAX_VALUE, false))
                        .files())
                .isOne();
        assertThat(files()).containsExactly(newest);
    }

    @Test
    void readingCountsAsUse() throws IOException {
        Path read = fill(OLD, 1, 9);
        Path unread = fill(NEW, 2, 1);
        try (FeatureCache cache = FeatureCache.open(root, OLD, _ -> {})) {
            assertThat(cache.find(SyntheticFeatures.image(1), SyntheticFeatures.CROP))
                    .isPresent();
        }
        FeatureCaches.prune(root, Rule.atMost(Files.size(read)));
        assertThat(files()).containsExactly(read).doesNotContain(unread);
    }

    @Test
    void filesOpenInThisProcessAreKept() throws IOException {
        Path open = fill(OLD, 1, 9);
        fill(NEW, 2, 1);
        try (FeatureCache first = FeatureCache.open(root, OLD, _ -> {})) {
            try (FeatureCache second = FeatureCache.open(root, OLD, _ -> {})) {
                assertThat(second.size()).isEqualTo(first.size());
            }
            Pruned pruned = FeatureCaches.prune(root, Rule.atMost(0));
            assertThat(pruned.busy()).isEqualTo(Files.size(open));
            assertThat(files()).containsExactly(open);
        }
        FeatureCaches.prune(root, Rule.atMost(0));
        assertThat(files()).isEmpty();
    }

    @Test
    void filesOpenInAnotherProcessAreKept() throws IOException, InterruptedException {
        Process writer = FeatureWritingProcess.start(root, 0);
        try {
            assertThat(writer.inputReader().readLine()).isEqualTo("writing");
            Pruned pruned = FeatureCaches.prune(root, Rule.atMost(0));
            assertThat(pruned.files()).isZero();
            assertThat(pruned.busy()).isPositive();
        } finally {
            writer.destroyForcibly().waitFor();
        }
        assertThat(FeatureCaches.prune(root, Rule.atMost(0)).remaining()).isZero();
    }

    @Test
    void limitComesFromTheVariableOrTheDisk() throws IOException {
        assertThat(FeatureCaches.limit("2GB")).isEqualTo(2_000_000_000L);
        assertThat(FeatureCaches.limit("none")).isEqualTo(Long.MAX_VALUE);
        assertThatThrownBy(() -> FeatureCaches.limit("much"))
                .hasMessage("GRAMIAN_CACHE_SIZE: expected a size such as 500MB or 2GB, or none, found 'much'");
        List<String> messages = new ArrayList<>();
        fill(OLD, 1, 1);
        FeatureCaches.keepWithinLimit(root, messages::add);
        assertThat(messages).as("a few bytes are within any limit").isEmpty();
        assertThat(FeatureCaches.limit(root)).isBetween(1L, FeatureCaches.DEFAULT_LIMIT);
    }
}
