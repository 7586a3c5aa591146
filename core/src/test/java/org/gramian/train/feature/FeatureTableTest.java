package org.gramian.train.feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.gramian.backbone.Backbone;
import org.gramian.image.ImageLimits;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.model.UnreadableImageException;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.testing.PaintedImages;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FeatureTableTest {
    @TempDir
    private Path folder = Path.of("");

    private final FrozenBackbone network = FrozenBackbone.withoutWeights(Backbone.of("filters"), Device.CPU);
    private final Crops crops = CropPlan.parse("ten:16").testing();
    private List<Sample> samples = List.of();

    @BeforeEach
    void paint() throws IOException {
        samples = PaintedImages.folders(folder.resolve("images"), 2, 2).samples();
    }

    @AfterEach
    void free() {
        network.close();
    }

    private FeatureExtractor extractor(DType type) {
        return new FeatureExtractor(network, 8, type);
    }

    private FeatureTable table(DType type, Optional<FeatureCache> cache) throws IOException {
        FeatureExtraction extraction = new FeatureExtraction(extractor(type), ImageLimits.DEFAULT, cache);
        return FeatureTable.collect(extraction, extraction.survey(samples, crops, _ -> {}), _ -> {});
    }

    private FeatureCache cache(DType type) throws IOException {
        return FeatureCache.open(folder.resolve("cache"), extractor(type).recipe(), problem -> {
            throw new AssertionError(problem);
        });
    }

    private static byte[] rows(FeatureTable table, int... places) {
        try (Scope _ = Scope.open()) {
            return table.rows(places).toBytes();
        }
    }

    @Test
    void rowsAreTheExtractedFeatures() throws IOException {
        CollectedFeatures collected = new CollectedFeatures();
        FeatureExtraction extraction =
                new FeatureExtraction(extractor(DType.F32), ImageLimits.DEFAULT, Optional.empty());
        extraction.run(extraction.survey(samples, crops, _ -> {}), collected, _ -> {});
        try (FeatureTable table = table(DType.F32, Optional.empty())) {
            assertThat(table.count()).isEqualTo(samples.size() * crops.count());
            assertThat(table.crops()).isEqualTo(crops.count());
            assertThat(table.samples()).isEqualTo(samples);
            for (int place = 0; place < table.count(); place++) {
                assertThat(collected.places().get(place))
                        .isEqualTo(place / table.crops() + "/" + place % table.crops());
                assertThat(rows(table, place)).isEqualTo(collected.features().get(place));
            }
        }
    }

    @RandomTest(times = 5)
    void rowsComeInAnyOrderAndMoreThanOnce(Seed seed) throws IOException {
        SplittableRandom random = seed.random();
        try (FeatureTable table = table(DType.F32, Optional.empty());
                Scope _ = Scope.open()) {
            int[] places = random.ints(12, 0, table.count()).toArray();
            Tensor together = table.rows(places);
            assertThat(together.shape()).isEqualTo(Shape.of(12, 120, 2, 2));
            float[][] found = split(together, places.length);
            for (int i = 0; i < places.length; i++) {
                assertThat(found[i]).isEqualTo(split(table.rows(new int[] {places[i]}), 1)[0]);
            }
        }
    }

    private static float[][] split(Tensor rows, int count) {
        double[] all = rows.toDoubles();
        float[][] split = new float[count][all.length / count];
        for (int i = 0; i < all.length; i++) {
            split[i / split[0].length][i % split[0].length] = (float) all[i];
        }
        return split;
    }

    @Test
    void cacheDoesNotChangeTheRows() throws IOException {
        for (DType type : List.of(DType.F32, DType.F16)) {
            try (FeatureTable plain = table(type, Optional.empty())) {
                int[] all = IntStream.range(0, plain.count()).toArray();
                byte[] wanted = rows(plain, all);
                for (String state : List.of("cold", "warm")) {
                    try (FeatureCache cache = cache(type);
                            FeatureTable cached = table(type, Optional.of(cache))) {
                        assertThat(rows(cached, all)).as("%s %s", type, state).isEqualTo(wanted);
                        assertThat(cache.size()).isEqualTo(plain.count());
                    }
                }
            }
        }
    }

    /** What is damaged after it was read and checked would be noticed if it were read again. */
    @Test
    void featuresOfAWarmCacheAreReadOnce() throws IOException {
        try (FeatureCache cache = cache(DType.F32);
                FeatureTable cold = table(DType.F32, Optional.of(cache))) {
            Path file = onlyFeatures(cache.folder());
            byte[] whole = Files.readAllBytes(file);
            FeatureExtraction extraction =
                    new FeatureExtraction(extractor(DType.F32), ImageLimits.DEFAULT, Optional.of(cache));
            LongConsumer damaging = done -> {
                if (done == samples.size()) {
                    overwrite(file, new byte[whole.length]);
                }
            };
            int[] all = IntStream.range(0, cold.count()).toArray();
            byte[] wanted = rows(cold, all);
            try (FeatureTable warm =
                    FeatureTable.collect(extraction, extraction.survey(samples, crops, _ -> {}), damaging)) {
                overwrite(file, whole);
                assertThat(rows(warm, all)).isEqualTo(wanted);
            }
        }
    }

    /** Every second image is kept already, in the file that features of the others are added to in between. */
    @Test
    void growingCacheFileIsMappedAFewTimesOnly() throws IOException {
        Path maps = Path.of("/proc/self/maps");
        Assumptions.assumeTrue(Files.exists(maps), "needs the list of mappings that Linux keeps");
        List<Sample> all = samples;
        try (FeatureCache cache = cache(DType.F32)) {
            samples = List.of(all.get(1), all.get(3));
            table(DType.F32, Optional.of(cache)).close();
            samples = all;
            try (FeatureTable table = table(DType.F32, Optional.of(cache));
                    Stream<String> mappings = Files.lines(maps)) {
                String file = onlyFeatures(cache.folder()).toString();
                assertThat(mappings.filter(line -> line.endsWith(file))).hasSizeBetween(1, 3);
                assertThat(table.count()).isGreaterThan(3);
            }
        }
    }

    private static Path onlyFeatures(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.toString().endsWith(FeatureSegment.Writer.SUFFIX))
                    .reduce((_, _) -> {
                        throw new AssertionError("more than one file");
                    })
                    .orElseThrow();
        }
    }

    /** In place, so that existing mappings see it. */
    private static void overwrite(Path file, byte[] content) {
        try {
            Files.write(file, content, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void tooLargeTableStaysOffTheGpu() {
        assertThat(FeatureTable.leavesRoom(100, Optional.of(200L))).isTrue();
        assertThat(FeatureTable.leavesRoom(101, Optional.of(200L))).isFalse();
        assertThat(FeatureTable.leavesRoom(1, Optional.empty())).isFalse();
    }

    @Test
    void rowsAreFloat32ForAnyStoredType() throws IOException {
        try (FeatureTable table = table(DType.F16, Optional.empty());
                Scope _ = Scope.open()) {
            assertThat(table.rows(new int[] {0, 1}).type()).isEqualTo(DType.F32);
        }
    }

    @Test
    void duplicatesHaveTheSameRows() throws IOException {
        Files.copy(samples.get(0).file(), samples.get(3).file(), StandardCopyOption.REPLACE_EXISTING);
        try (FeatureCache cache = cache(DType.F32);
                FeatureTable table = table(DType.F32, Optional.of(cache))) {
            for (int crop = 0; crop < table.crops(); crop++) {
                assertThat(rows(table, 3 * table.crops() + crop)).isEqualTo(rows(table, crop));
            }
        }
    }

    @Test
    void noImagesMakeAnEmptyTable() throws IOException {
        samples = List.of();
        try (FeatureTable table = table(DType.F32, Optional.empty())) {
            assertThat(table.count()).isZero();
        }
    }

    @Test
    void progressIsReportedForEachImage() throws IOException {
        FeatureExtraction extraction =
                new FeatureExtraction(extractor(DType.F32), ImageLimits.DEFAULT, Optional.empty());
        List<Long> reported = new ArrayList<>();
        FeatureTable.collect(extraction, extraction.survey(samples, crops, _ -> {}), reported::add)
                .close();
        assertThat(reported)
                .isEqualTo(LongStream.rangeClosed(1, samples.size()).boxed().toList());
    }

    @Test
    void unreadableImageIsNamed() throws IOException {
        Files.writeString(samples.get(2).file(), "not an image");
        for (boolean cached : List.of(false, true)) {
            try (FeatureCache cache = cache(DType.F32)) {
                assertThatThrownBy(() -> table(DType.F32, cached ? Optional.of(cache) : Optional.empty()))
                        .isInstanceOf(UnreadableImageException.class)
                        .hasMessageContaining(samples.get(2).file().toString());
            }
        }
    }
}
