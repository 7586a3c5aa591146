package org.gramian.train.feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.gramian.autodiff.Parameter;
import org.gramian.backbone.Backbone;
import org.gramian.image.ImageLimits;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.io.TempDir;

class FeatureExtractionTest {
    private static final int IMAGES = 5;
    private static final int BATCH = 8;

    @TempDir
    private Path folder = Path.of("");

    private final FrozenBackbone network = FrozenBackbone.withoutWeights(Backbone.of("filters"), Device.CPU);
    private final List<Sample> samples = new ArrayList<>();
    private final Crops crops = CropPlan.parse("paper:14").training(1);

    @BeforeEach
    void paint() throws IOException {
        for (int i = 0; i < IMAGES; i++) {
            Path file = folder.resolve(i + ".png");
            paint(file, i);
            samples.add(new Sample(i + ".png", 0, file));
        }
    }

    @AfterEach
    void free() {
        network.close();
    }

    private static void paint(Path file, long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        BufferedImage image = new BufferedImage(40, 36, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                image.setRGB(x, y, random.nextInt());
            }
        }
        ImageIO.write(image, "png", file.toFile());
    }

    private FeatureExtractor extractor(DType type) {
        return new FeatureExtractor(network, BATCH, type);
    }

    private CollectedFeatures without(DType type) throws IOException {
        return run(new FeatureExtraction(extractor(type), ImageLimits.DEFAULT, Optional.empty()), -1);
    }

    /** Through the cache, which must have lacked so many features. */
    private CollectedFeatures through(DType type, int missing) throws IOException {
        try (FeatureCache cache = cache(type)) {
            return run(new FeatureExtraction(extractor(type), ImageLimits.DEFAULT, Optional.of(cache)), missing);
        }
    }

    private FeatureCache cache(DType type) throws IOException {
        return FeatureCache.open(folder.resolve("cache"), extractor(type).recipe(), problem -> {
            throw new AssertionError(problem);
        });
    }

    private CollectedFeatures run(FeatureExtraction extraction, int missing) throws IOException {
        FeatureSurvey survey = extraction.survey(samples, crops, _ -> {});
        if (missing >= 0) {
            assertThat(survey.missingCount()).isEqualTo(missing);
        }
        CollectedFeatures collected = new CollectedFeatures();
        List<Long> progress = new ArrayList<>();
        extraction.run(survey, collected, progress::add);
        assertThat(progress)
                .isEqualTo(LongStream.rangeClosed(1, samples.size()).boxed().toList());
        return collected;
    }

    /** There is more to decode than batches to fill, so that all of one kind are waiting when the first feature comes. */
    @Test
    void eachRequestedThreadIsTwoAlternatingThreads() throws IOException {
        FeatureExtraction extraction =
                new FeatureExtraction(extractor(DType.F32), ImageLimits.DEFAULT, Optional.empty());
        for (int threads : new int[] {1, 3}) {
            List<Long> seen = new ArrayList<>();
            extraction.with(threads).run(extraction.survey(samples, crops, _ -> {}), counting(seen), _ -> {});
            assertThat(seen).allMatch(count -> count <= 2L * threads);
            assertThat(seen.getFirst()).isGreaterThanOrEqualTo(threads);
        }
    }

    private static FeatureExtraction.Sink counting(List<Long> seen) {
        return new FeatureExtraction.Sink() {
            @Override
            public void feature(int sample, int crop, MemorySegment feature) {
                seen.add(Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().startsWith("gramian-images-"))
                        .count());
            }

            @Override
            public void unreadable(int sample, Unreadable problem) {
                throw new AssertionError(problem);
            }
        };
    }

    @Test
    void featuresAreInOrderAndTheSameWithAndWithoutCache() throws IOException {
        for (DType type : List.of(DType.F32, DType.F16)) {
            CollectedFeatures plain = without(type);
            assertThat(plain.places())
                    .hasSize(IMAGES * crops.count())
                    .startsWith("0/0", "0/1")
                    .endsWith("4/14");
            long bytes = extractor(type).bytes(crops);
            assertThat(plain.features())
                    .allSatisfy(feature -> assertThat((long) feature.length).isEqualTo(bytes));
            through(type, IMAGES * crops.count()).requireSameAs(plain);
            through(type, 0).requireSameAs(plain);
        }
    }

    @Test
    void float16IsRoundedFloat32() throws IOException {
        byte[] single = without(DType.F32).features().getFirst();
        byte[] half = without(DType.F16).features().getFirst();
        ByteBuffer numbers = ByteBuffer.wrap(single).order(ByteOrder.nativeOrder());
        ByteBuffer halves = ByteBuffer.wrap(half).order(ByteOrder.nativeOrder());
        while (numbers.hasRemaining()) {
            assertThat(halves.getShort()).isEqualTo(Float.floatToFloat16(numbers.getFloat()));
        }
    }

    @Test
    void bitsOfAFeatureDoNotDependOnTheBatch() throws IOException {
        CollectedFeatures all = without(DType.F32);
        samples.subList(0, 3).clear();
        CollectedFeatures some = without(DType.F32);
        for (int i = 0; i < some.features().size(); i++) {
            assertThat(some.features().get(i)).isEqualTo(all.features().get(3 * crops.count() + i));
        }
    }

    @Test
    void changedFileIsRecomputedAndARenamedOneForRandomCropsOnly() throws IOException {
        through(DType.F32, IMAGES * crops.count());
        paint(samples.get(2).file(), 99);
        CollectedFeatures plain = without(DType.F32);
        through(DType.F32, crops.count()).requireSameAs(plain);

        Path moved = folder.resolve("moved.png");
        Files.move(samples.get(3).file(), moved);
        samples.set(3, new Sample("moved.png", 0, moved));
        through(DType.F32, 10).requireSameAs(without(DType.F32));
    }

    @Test
    void unreadableImageIsReported() throws IOException {
        Files.writeString(samples.get(1).file(), "not an image");
        Files.delete(samples.get(4).file());
        CollectedFeatures plain = without(DType.F32);
        assertThat(plain.unreadable().keySet()).containsExactly(1, 4);
        assertThat(plain.problem(1).problem()).isEqualTo(Problem.UNKNOWN_FORMAT);
        assertThat(plain.problem(4).problem()).isEqualTo(Problem.INACCESSIBLE);
        assertThat(plain.places()).hasSize((IMAGES - 2) * crops.count());
        through(DType.F32, IMAGES * crops.count()).requireSameAs(plain);
        through(DType.F32, 2 * crops.count()).requireSameAs(plain);
    }

    @Test
    void fileChangedBetweenHashingAndDecodingIsDetected() throws IOException {
        try (FeatureCache cache = cache(DType.F32)) {
            FeatureExtraction extraction =
                    new FeatureExtraction(extractor(DType.F32), ImageLimits.DEFAULT, Optional.of(cache));
            FeatureSurvey survey = extraction.survey(samples, crops, _ -> {});
            paint(samples.get(0).file(), 1234);
            CollectedFeatures collected = new CollectedFeatures();
            extraction.run(survey, collected, _ -> {});
            assertThat(collected.problem(0).reason()).isNotBlank();
        }
        through(DType.F32, crops.count()).requireSameAs(without(DType.F32));
    }

    @Test
    void featuresDamagedAfterTheSurveyAreRecomputed() throws IOException {
        CollectedFeatures plain = through(DType.F32, IMAGES * crops.count());
        try (FeatureCache cache = cache(DType.F32)) {
            FeatureExtraction extraction =
                    new FeatureExtraction(extractor(DType.F32), ImageLimits.DEFAULT, Optional.of(cache));
            FeatureSurvey survey = extraction.survey(samples, crops, _ -> {});
            assertThat(survey.missingCount()).isZero();
            damageThirdRecord(cache.folder());
            CollectedFeatures collected = new CollectedFeatures();
            extraction.run(survey, collected, _ -> {});
            collected.requireSameAs(plain);
        }
        through(DType.F32, 0).requireSameAs(plain);
    }

    /** In place, so that the cache's mapping of the file sees it. */
    private void damageThirdRecord(Path cache) throws IOException {
        try (Stream<Path> files = Files.list(cache)) {
            Path file = files.filter(path -> path.toString().endsWith(".features"))
                    .findFirst()
                    .orElseThrow();
            try (SeekableByteChannel channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
                long record = FeatureCache.bytes(1, extractor(DType.F32).bytes(crops));
                channel.position(2 * record + FeatureSegment.Header.BYTES + 100);
                channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}));
            }
        }
    }

    @Test
    void cacheRemovedAfterTheSurveyWarnsOnceAndIsRecomputed() throws IOException {
        List<String> warnings = new ArrayList<>();
        FeatureExtractor extractor = extractor(DType.F32);
        try (FeatureCache cache = FeatureCache.open(folder.resolve("removed"), extractor.recipe(), warnings::add)) {
            FeatureExtraction extraction = new FeatureExtraction(extractor, ImageLimits.DEFAULT, Optional.of(cache));
            run(extraction, IMAGES * crops.count());
            FeatureSurvey survey = extraction.survey(samples, crops, _ -> {});
            assertThat(survey.missingCount()).isZero();
            remove(cache.folder());
            CollectedFeatures collected = new CollectedFeatures();
            extraction.run(survey, collected, _ -> {});
            collected.requireSameAs(without(DType.F32));
            run(extraction, 0);
        }
        assertThat(warnings).singleElement().asString().has(facts(folder.resolve("removed")));
    }

    private static void remove(Path cache) throws IOException {
        try (Stream<Path> files = Files.list(cache)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(cache);
    }

    @Test
    void featuresTooLargeForFloat16AreRefused() throws IOException {
        try (FrozenBackbone loud = FrozenBackbone.withoutWeights(Backbone.of("filters"), Device.CPU);
                Scope _ = Scope.open()) {
            enlarge(loud, 1e6);
            FeatureExtractor half = new FeatureExtractor(loud, BATCH, DType.F16);
            assertThatThrownBy(() -> run(new FeatureExtraction(half, ImageLimits.DEFAULT, Optional.empty()), -1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .has(facts("filters:bank"))
                    .hasMessageContaining("65504")
                    .has(facts("f32"));
            FeatureExtractor single = new FeatureExtractor(loud, BATCH, DType.F32);
            assertThat(run(new FeatureExtraction(single, ImageLimits.DEFAULT, Optional.empty()), -1)
                            .features())
                    .hasSize(IMAGES * crops.count());
            enlarge(loud, Double.POSITIVE_INFINITY);
            assertThatThrownBy(() -> run(new FeatureExtraction(single, ImageLimits.DEFAULT, Optional.empty()), -1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .has(facts("finite"));
        }
    }

    private static void enlarge(FrozenBackbone network, double factor) {
        for (Parameter parameter : network.parameters().all()) {
            parameter.set(parameter.value().mul(factor));
        }
    }

    @Test
    void gpuEngineNamesExactArithmetic() {
        FrozenBackbone elsewhere = new FrozenBackbone(
                network.backbone(), network.parameters(), network.preprocessing(), "0", Device.cuda(0));
        assertThat(new FeatureExtractor(elsewhere, BATCH, DType.F32).recipe().engine())
                .has(facts("cuda", "TF32", "cuDNN"));
    }

    /** Features that were cached before NNPACK was switched off differ in the last bits (ADR 21). */
    @Test
    @EnabledOnOs(architectures = "aarch64")
    void onArmTheEngineNamesTheKernelsThatAreSwitchedOff() {
        assertThat(extractor(DType.F32).recipe().engine()).has(facts("oneDNN", "NNPACK"));
    }

    @Test
    void sameImageIsCachedOnce() throws IOException {
        Crops centre = CropPlan.parse("center:14").testing();
        Files.copy(samples.get(0).file(), samples.get(1).file(), StandardCopyOption.REPLACE_EXISTING);
        try (FeatureCache cache = cache(DType.F32)) {
            FeatureExtraction extraction =
                    new FeatureExtraction(extractor(DType.F32), ImageLimits.DEFAULT, Optional.of(cache));
            extraction.run(extraction.survey(samples, centre, _ -> {}), new CollectedFeatures(), _ -> {});
            assertThat(cache.size()).isEqualTo(IMAGES - 1);
        }
    }

    @Test
    void cacheOfAnotherRecipeIsRefused() throws IOException {
        try (FeatureCache cache = cache(DType.F16)) {
            assertThatThrownBy(
                            () -> new FeatureExtraction(extractor(DType.F32), ImageLimits.DEFAULT, Optional.of(cache)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(new FeatureExtractor(network, 5, DType.F32).recipe())
                .as("another batch may mean other bits")
                .isNotEqualTo(extractor(DType.F32).recipe());
    }

    @Test
    void noImagesGiveNoFeatures() throws IOException {
        samples.clear();
        assertThat(through(DType.F32, 0).places()).isEmpty();
    }
}
