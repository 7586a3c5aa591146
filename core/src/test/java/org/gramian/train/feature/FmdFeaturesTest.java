package org.gramian.train.feature;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.image.ImageLimits;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.spd.FullResults;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.testing.SharedFolder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real images, a real network: the cache gives the same bits, and much faster. */
class FmdFeaturesTest {
    private static final int IMAGES = FullResults.wanted() ? 200 : 20;

    /** The time of opening the cache counts more among few images. */
    private static final double SPEEDUP = FullResults.wanted() ? 20 : 4;

    @TempDir
    private Path folder = Path.of("");

    @Test
    void cachedFeaturesAreBitIdenticalAndFaster() throws IOException {
        Dataset dataset = Layouts.open(SharedFolder.require("data/fmd"));
        Path weights = SharedFolder.require("weights/googlenet-bvlc.safetensors");
        int step = dataset.samples().size() / IMAGES;
        List<Sample> samples = IntStream.range(0, IMAGES)
                .mapToObj(i -> dataset.samples().get(i * step))
                .toList();
        Crops crops = CropPlan.parse("center").testing();
        try (Arena arena = Arena.ofShared();
                FrozenBackbone network = FrozenBackbone.of(
                        Backbone.of("googlenet", "inception_4e"),
                        Weights.read("googlenet", weights, arena, _ -> {}),
                        Device.CPU)) {
            FeatureExtractor extractor = new FeatureExtractor(network, FeatureExtractor.DEFAULT_BATCH, DType.F32);
            Timed first = through(extractor, samples, crops);
            Timed second = through(extractor, samples, crops);
            assertThat(first.features().places()).hasSize(IMAGES);
            second.features().requireSameAs(first.features()); // which were computed as they came
            requireSameWithout(extractor, samples, crops, second.features());
            assertThat(first.seconds() / second.seconds())
                    .as("%.2f s for the first pass, %.3f s for the second", first.seconds(), second.seconds())
                    .isGreaterThan(SPEEDUP);
            FullResults.add(
                    FmdFeaturesTest.class,
                    String.format(
                            Locale.ROOT,
                            "%d features of GoogLeNet: %.1f s computed, %.2f s from the cache, equal bit for bit",
                            IMAGES,
                            first.seconds(),
                            second.seconds()));
        }
    }

    /** In a run of their own without the cache: every fifth image, all of them under {@code ./verify --full}. */
    private static void requireSameWithout(
            FeatureExtractor extractor, List<Sample> samples, Crops crops, CollectedFeatures kept) throws IOException {
        int step = FullResults.wanted() ? 1 : 5;
        List<Sample> some = IntStream.range(0, samples.size() / step)
                .mapToObj(i -> samples.get(i * step))
                .toList();
        List<byte[]> found =
                Timed.of(extractor, Optional.empty(), some, crops).features().features();
        assertThat(found).hasSize(some.size());
        for (int i = 0; i < found.size(); i++) {
            assertThat(found.get(i))
                    .as(some.get(i).name())
                    .isEqualTo(kept.features().get(i * step));
        }
    }

    private Timed through(FeatureExtractor extractor, List<Sample> samples, Crops crops) throws IOException {
        try (FeatureCache cache = FeatureCache.open(folder, extractor.recipe(), _ -> {})) {
            return Timed.of(extractor, Optional.of(cache), samples, crops);
        }
    }

    /** What one pass gave, and how long it took. */
    private record Timed(CollectedFeatures features, double seconds) {
        static Timed of(FeatureExtractor extractor, Optional<FeatureCache> cache, List<Sample> samples, Crops crops)
                throws IOException {
            FeatureExtraction extraction = new FeatureExtraction(extractor, ImageLimits.DEFAULT, cache);
            CollectedFeatures collected = new CollectedFeatures();
            long start = System.nanoTime();
            extraction.run(extraction.survey(samples, crops, _ -> {}), collected, _ -> {});
            return new Timed(collected, (System.nanoTime() - start) / 1e9);
        }
    }
}
