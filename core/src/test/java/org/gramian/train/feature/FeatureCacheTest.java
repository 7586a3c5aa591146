package org.gramian.train.feature;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FeatureCacheTest {
    private static final int COUNT = 8;

    @TempDir
    private Path root = Path.of("");

    private final List<String> warnings = new ArrayList<>();

    private FeatureCache open() throws IOException {
        return FeatureCache.open(root, SyntheticFeatures.recipe(), warnings::add);
    }

    private static Optional<byte[]> find(FeatureCache cache, int number) {
        return cache.find(SyntheticFeatures.image(number), SyntheticFeatures.CROP)
                .map(found -> found.toArray(JAVA_BYTE));
    }

    private void fill(int from, int to) throws IOException {
        try (FeatureCache cache = open()) {
            for (int number = from; number < to; number++) {
                SyntheticFeatures.put(cache, number);
            }
        }
    }

    /** The files with features in them, in the folder of the recipe. */
    private List<Path> segments() throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".features"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void storedFeaturesAreFound() throws IOException {
        try (FeatureCache cache = open()) {
            for (int number = 0; number < COUNT; number++) {
                assertThat(find(cache, number)).isEmpty();
                SyntheticFeatures.put(cache, number);
                assertThat(find(cache, number)).contains(SyntheticFeatures.feature(number));
            }
        }
        try (FeatureCache cache = open()) {
            assertThat(cache.size()).isEqualTo(COUNT);
            for (int number = 0; number < COUNT; number++) {
                assertThat(find(cache, number)).contains(SyntheticFeatures.feature(number));
            }
        }
    }

    @Test
    void featuresAreAlignedAndReadOnly() throws IOException {
        fill(0, COUNT);
        try (FeatureCache cache = open()) {
            for (int number = 0; number < COUNT; number++) {
                MemorySegment feature = cache.find(SyntheticFeatures.image(number), SyntheticFeatures.CROP)
                        .orElseThrow();
                assertThat(feature.address() % 64).isZero();
                assertThat(feature.isReadOnly()).isTrue();
            }
        }
    }

    @Test
    void nothingIsFoundUnderAnotherKey() throws IOException {
        fill(0, 1);
        try (FeatureCache cache = open()) {
            assertThat(cache.find(SyntheticFeatures.image(0), "another crop")).isEmpty();
            assertThat(cache.find(SyntheticFeatures.image(1), SyntheticFeatures.CROP))
                    .isEmpty();
        }
        FeatureRecipe recipe = SyntheticFeatures.recipe();
        List<FeatureRecipe> others = List.of(
                with(recipe, "other", recipe.layer(), recipe.weights(), recipe.preprocessing()),
                with(recipe, recipe.backbone(), "top/layer2", recipe.weights(), recipe.preprocessing()),
                with(recipe, recipe.backbone(), recipe.layer(), "0123abce", recipe.preprocessing()),
                with(recipe, recipe.backbone(), recipe.layer(), recipe.weights(), Preprocessing.TORCHVISION),
                new FeatureRecipe("made-up", "top/layer", "0123abcd", Preprocessing.CAFFE, DType.F16, "none"),
                new FeatureRecipe("made-up", "top/layer", "0123abcd", Preprocessing.CAFFE, DType.F32, "other"),
                // The same letters, divided otherwise:
                new FeatureRecipe("made-up-top", "layer", "0123abcd", Preprocessing.CAFFE, DType.F32, "none"));
        Set<String> folders = new HashSet<>(Set.of(recipe.folder()));
        Set<FeatureRecipe.Key> keys =
                new HashSet<>(Set.of(recipe.key(SyntheticFeatures.image(0), SyntheticFeatures.CROP)));
        for (FeatureRecipe other : others) {
            assertThat(folders.add(other.folder())).as("%s", other).isTrue();
            assertThat(keys.add(other.key(SyntheticFeatures.image(0), SyntheticFeatures.CROP)))
                    .isTrue();
            try (FeatureCache cache = FeatureCache.open(root, other, warnings::add)) {
                assertThat(find(cache, 0)).isEmpty();
            }
        }
    }

    private static FeatureRecipe with(
            FeatureRecipe base, String backbone, String layer, String weights, Preprocessing preprocessing) {
        return new FeatureRecipe(backbone, layer, weights, preprocessing, base.type(), base.engine());
    }

    @Test
    void folderDescribesItsRecipe() throws IOException {
        fill(0, 1);
        Path folder = root.resolve(SyntheticFeatures.recipe().folder());
        assertThat(folder.getFileName().toString()).startsWith("made-up-top_layer-");
        assertThat(Files.readString(folder.resolve("recipe.json")))
                .contains("\"backbone\" : \"made-up\"", "\"preprocessing\" : \"" + Preprocessing.CAFFE.text() + "\"");
    }

    @Test
    void truncatedFileLosesOnlyItsEnd() throws IOException {
        fill(1, 4); // short ones
        Path file = segments().getFirst();
        byte[] whole = Files.readAllBytes(file);
        int former = 0;
        for (int length = whole.length % 7; length <= whole.length; length += 7) {
            Files.write(file, Arrays.copyOf(whole, length));
            try (FeatureCache cache = open()) {
                int found = 0;
                for (int number = 1; number < 4; number++) {
                    Optional<byte[]> feature = find(cache, number);
                    assertThat(feature.isEmpty() || Arrays.equals(feature.get(), SyntheticFeatures.feature(number)))
                            .isTrue();
                    found += feature.isPresent() ? 1 : 0;
                }
                assertThat(found).isGreaterThanOrEqualTo(former);
                former = found;
            }
        }
        assertThat(former).isEqualTo(3);
    }

    @RandomTest(times = 10)
    void damagedFeatureIsReplaced(Seed seed) throws IOException {
        fill(0, COUNT);
        SplittableRandom random = seed.random();
        Path file = segments().getFirst();
        byte[] bytes = Files.readAllBytes(file);
        for (int i = 0; i < 3; i++) {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
        Files.write(file, bytes);
        try (FeatureCache cache = open()) {
            for (int number = 0; number < COUNT; number++) {
                Optional<byte[]> feature = find(cache, number);
                if (feature.isPresent()) {
                    assertThat(feature.get()).isEqualTo(SyntheticFeatures.feature(number));
                }
                SyntheticFeatures.put(cache, number);
            }
        }
        long size = size();
        fill(0, COUNT);
        assertThat(size()).as("nothing is missing any more, nothing is added").isEqualTo(size);
        try (FeatureCache cache = open()) {
            for (int number = 0; number < COUNT; number++) {
                assertThat(find(cache, number)).contains(SyntheticFeatures.feature(number));
            }
        }
    }

    private long size() throws IOException {
        long size = 0;
        for (Path file : segments()) {
            size += Files.size(file);
        }
        return size;
    }

    @Test
    void foreignFilesAreIgnored() throws IOException {
        fill(0, COUNT);
        Path folder = root.resolve(SyntheticFeatures.recipe().folder());
        byte[] noise = new byte[1000];
        new SplittableRandom(1).nextBytes(noise);
        Files.write(folder.resolve("noise.features"), noise);
        Files.write(folder.resolve("empty.features"), new byte[0]);
        Files.write(folder.resolve("notes.txt"), noise);
        try (FeatureCache cache = open()) {
            assertThat(cache.size()).isEqualTo(COUNT);
        }
    }

    @Test
    void twoCachesOnOneFolderSeeEachOthersFeatures() throws IOException {
        try (FeatureCache one = open();
                FeatureCache two = open()) {
            for (int number = 0; number < COUNT; number++) {
                SyntheticFeatures.put(number % 2 == 0 ? one : two, number);
            }
            assertThat(find(two, 0)).isEmpty();
            one.refresh();
            two.refresh();
            for (int number = 0; number < COUNT; number++) {
                assertThat(find(one, number)).contains(SyntheticFeatures.feature(number));
                assertThat(find(two, number)).contains(SyntheticFeatures.feature(number));
            }
            SyntheticFeatures.put(one, COUNT);
            two.refresh();
            assertThat(find(two, COUNT)).contains(SyntheticFeatures.feature(COUNT));
        }
        assertThat(segments()).hasSize(2);
    }

    @Test
    void unwritableCacheWarnsOnce() throws IOException {
        try (FeatureCache cache = open()) {
            Files.delete(cache.folder().resolve("recipe.json"));
            Files.delete(cache.folder());
            SyntheticFeatures.put(cache, 0);
            SyntheticFeatures.put(cache, 1);
            assertThat(find(cache, 0)).isEmpty();
        }
        assertThat(warnings).singleElement().asString().has(facts(root));
    }

    @Test
    void folderThatCannotBeCreatedIsReportedWithAdvice() throws IOException {
        Path file = Files.createFile(root.resolve("file"));
        assertThatThrownBy(() -> FeatureCache.open(file, SyntheticFeatures.recipe(), warnings::add))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("--cache-dir")
                .hasMessageContaining("--no-cache");
    }

    @Test
    void sizeIsKnownBeforehand() throws IOException {
        try (FeatureCache cache = open()) {
            long bytes = 0;
            for (int number = 0; number < COUNT; number++) {
                bytes += FeatureCache.bytes(1, SyntheticFeatures.feature(number).length);
                SyntheticFeatures.put(cache, number);
            }
            assertThat(size()).isEqualTo(bytes);
            assertThat(FeatureCache.bytes(1000, 652_288)).isEqualTo(1000 * 652_352L);
            cache.requireSpace(1);
            cache.requireSpace(5_000_000, 5_000_000);
            assertThatThrownBy(() -> cache.requireSpace(5_000_001, 5_000_000))
                    .isInstanceOf(IOException.class)
                    .has(facts("6 MB", "5 MB"))
                    .hasMessageContaining("--cache-dir");
        }
    }

    @Test
    void aClosedCacheIsNotWrittenTo() throws IOException {
        FeatureCache cache = open();
        cache.close();
        assertThatThrownBy(() -> SyntheticFeatures.put(cache, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void onlyFloatsAreCached() {
        assertThatThrownBy(() -> new FeatureRecipe("a", "b", "c", Preprocessing.CAFFE, DType.I64, "d"))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("f32", "f16"));
    }
}
