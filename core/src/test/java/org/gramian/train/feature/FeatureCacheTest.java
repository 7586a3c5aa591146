package org.gramian.train.feature;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FeatureCacheTest {
    @TempDir
    private Path folder = Path.of("");

    private final FrozenBackbone network = FrozenBackbone.withoutWeights(Backbone.of("filters"), Device.CPU);
    private Crops crops = CropPlan.parse("paper:14").training(1);
    private final List<String> messages = new ArrayList<>();
    private List<Sample> samples = List.of();
    private int computed;

    @BeforeEach
    void paint() throws IOException {
        samples = PaintedImages.folders(folder.resolve("images"), 2, 2).samples();
    }

    @AfterEach
    void free() {
        network.close();
    }

    private FeatureCache open() throws IOException {
        return FeatureCache.open(Optional.of(folder.resolve("cache")), folder, messages::add);
    }

    private FeatureExtraction extraction(FrozenBackbone backbone, DType type, FeatureCache cache) {
        return new FeatureExtraction(new FeatureExtractor(backbone, 8, type), Optional.of(cache));
    }

    private FeatureTable table(FeatureExtraction extraction, List<Sample> images, Crops some) throws IOException {
        return extraction.table("features", images, some, 2, task -> {
            if (task.name().equals("features") && task.done() == 1) {
                computed++;
            }
        });
    }

    /** Returns all features of a new process, which has its own mapping. */
    private List<byte[]> features(FrozenBackbone backbone, DType type) throws IOException {
        try (FeatureCache cache = open();
                FeatureTable table = table(extraction(backbone, type, cache), samples, crops)) {
            assertThat(table.problems()).isEmpty();
            return IntStream.range(0, table.count())
                    .mapToObj(i ->
                            table.feature(i / table.crops(), i % table.crops()).toArray(JAVA_BYTE))
                    .toList();
        }
    }

    private static void replace(Path file, Path other) {
        try {
            Files.copy(other, file, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path onlyFile() throws IOException {
        return FeatureCache.list(folder.resolve("cache")).getFirst().file();
    }

    private static void requireEqual(List<byte[]> one, List<byte[]> other) {
        assertThat(one).hasSameSizeAs(other);
        for (int i = 0; i < one.size(); i++) {
            assertThat(one.get(i)).isEqualTo(other.get(i));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"F32", "F16"})
    void cachedFeaturesEqualComputedOnes(String type) throws IOException {
        List<byte[]> first = features(network, DType.valueOf(type));
        requireEqual(first, features(network, DType.valueOf(type)));
        assertThat(computed).isOne();
        assertThat(messages).isEmpty();
    }

    @Test
    void float16FeaturesAreRoundedFloat32() throws IOException {
        ByteBuffer single =
                ByteBuffer.wrap(features(network, DType.F32).getFirst()).order(ByteOrder.nativeOrder());
        ByteBuffer half =
                ByteBuffer.wrap(features(network, DType.F16).getFirst()).order(ByteOrder.nativeOrder());
        while (single.hasRemaining()) {
            assertThat(half.getShort()).isEqualTo(Float.floatToFloat16(single.getFloat()));
        }
    }

    @Test
    void oneOfSeveralCachedLayersNeedsNoComputation() throws IOException {
        crops = CropPlan.parse("center:64").testing();
        Backbone whole = Backbone.of("gramian-s");
        String layers = whole.selectionLayers();
        assertThat(layers).contains("+");
        try (FrozenBackbone several = FrozenBackbone.withoutWeights(whole.cutAt(layers), Device.CPU)) {
            features(several, DType.F32);
            for (String layer : layers.split("\\+")) {
                Backbone one = whole.cutAt(layer);
                ParameterSet parameters =
                        ParameterSet.initialize(one.parameters(), new SplittableRandom(0), DType.F32, Device.CPU);
                parameters.all().forEach(parameter -> {
                    String name = parameter.spec().name();
                    parameters.assign(
                            Map.of(name, several.parameters().get(name).value()));
                });
                // a fingerprint is that of the whole file of weights
                try (FrozenBackbone alone = new FrozenBackbone(
                        one, parameters, several.preprocessing(), several.fingerprint(), Device.CPU)) {
                    computed = 0;
                    List<byte[]> cached = features(alone, DType.F32);
                    assertThat(computed).isZero();
                    FeatureCache.prune(folder.resolve("cache"), 0, false);
                    requireEqual(cached, features(alone, DType.F32));
                    assertThat(computed).isOne();
                    FeatureCache.prune(folder.resolve("cache"), 0, false);
                    features(several, DType.F32);
                }
            }
        }
    }

    @Test
    void plannedFeaturesAreComputedTogether() throws IOException {
        try (FeatureCache cache = open()) {
            FeatureExtraction extraction = extraction(network, DType.F32, cache);
            extraction.plan(samples.subList(0, 3), crops);
            extraction.plan(samples.subList(2, 4), crops.first());
            table(extraction, samples.subList(2, 4), crops.first()).close();
            table(extraction, samples.subList(0, 2), crops).close();
            assertThat(computed).isOne();
            assertThat(FeatureCache.list(cache.folder())).hasSize(1);
            table(extraction, samples, crops).close(); // not planned
            assertThat(FeatureCache.list(cache.folder())).hasSize(2);
        }
    }

    @Test
    void rowsComeInAnyOrderAsFloat32() throws IOException {
        try (FeatureCache cache = open();
                FeatureTable table = table(extraction(network, DType.F16, cache), samples, crops);
                Scope _ = Scope.open()) {
            double[] together = table.rows(new int[] {7, 0, 7}).toDoubles();
            assertThat(table.rows(new int[] {7}).type()).isEqualTo(DType.F32);
            assertThat(together).startsWith(table.rows(new int[] {7}).toDoubles());
            assertThat(together).endsWith(table.rows(new int[] {0, 7}).toDoubles());
        }
    }

    @Test
    void changedImageIsComputedAgain() throws IOException {
        List<byte[]> before = features(network, DType.F32);
        Files.copy(samples.get(0).file(), samples.get(3).file(), StandardCopyOption.REPLACE_EXISTING);
        List<byte[]> after = features(network, DType.F32);
        assertThat(after.get(3 * crops.count())).isNotEqualTo(before.get(3 * crops.count()));
        assertThat(after.get(3 * crops.count())).as("the same centre crop").isEqualTo(after.getFirst());
        assertThat(computed).isEqualTo(2);
    }

    @Test
    void fileChangedAfterHashingIsRefused() throws IOException {
        try (FeatureCache cache = open()) {
            FeatureExtraction extraction = extraction(network, DType.F32, cache);
            Consumer<TrainEvent.Task> replacing = task -> {
                if (task.name().equals("hashing files") && task.done() == task.total()) {
                    replace(samples.get(3).file(), samples.get(0).file());
                }
            };
            assertThatThrownBy(() -> extraction.table("features", samples, crops, 1, replacing))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining(samples.get(3).name());
            try (Stream<Path> files = Files.list(cache.folder())) {
                assertThat(files).isEmpty();
            }
        }
    }

    @Test
    void unreadableImagesAreReported() throws IOException {
        Files.writeString(samples.get(1).file(), "not an image");
        Files.delete(samples.get(2).file());
        for (String state : List.of("cold", "warm")) {
            try (FeatureCache cache = open();
                    FeatureTable table = table(extraction(network, DType.F32, cache), samples, crops)) {
                assertThat(table.problems().keySet()).as(state).containsExactlyInAnyOrder(1, 2);
                assertThat(table.problems().get(1).problem()).isEqualTo(Problem.UNKNOWN_FORMAT);
                assertThat(table.problems().get(2).problem()).isEqualTo(Problem.INACCESSIBLE);
            }
        }
        assertThat(computed).as("a missing file may be there in the next run").isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"torn", "header", "row", "end", "foreign", "empty"})
    void damagedFileIsReplaced(String damage) throws IOException {
        List<byte[]> before = features(network, DType.F32);
        Path file = onlyFile();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            long size = channel.size();
            switch (damage) {
                case "torn" -> channel.truncate(size / 2);
                case "header" -> channel.write(ByteBuffer.wrap(new byte[] {1}), 17);
                case "row" -> channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), 200);
                case "end" -> channel.write(ByteBuffer.wrap(new byte[] {1}), size - 5);
                case "foreign" -> channel.write(ByteBuffer.wrap("something else".getBytes(StandardCharsets.UTF_8)), 0);
                default -> channel.truncate(0);
            }
        }
        requireEqual(before, features(network, DType.F32));
        assertThat(messages).singleElement().asString().contains(file.toString());
        requireEqual(before, features(network, DType.F32));
        assertThat(computed).isEqualTo(2);
    }

    @Test
    void interruptedExtractionLeavesNothing() throws IOException {
        try (FeatureCache cache = open()) {
            FeatureExtraction extraction = extraction(network, DType.F32, cache);
            assertRejected(
                    IllegalStateException.class,
                    () -> extraction.table("features", samples, crops, 1, task -> {
                        if (task.name().equals("features")) {
                            throw new IllegalStateException("stop");
                        }
                    }));
            try (Stream<Path> files = Files.list(cache.folder())) {
                assertThat(files).isEmpty();
            }
        }
    }

    @Test
    void removedFileStaysMapped() throws IOException {
        try (FeatureCache cache = open();
                FeatureTable table = table(extraction(network, DType.F32, cache), samples, crops)) {
            byte[] before = table.feature(0, 0).toArray(JAVA_BYTE);
            assertThat(FeatureCache.prune(cache.folder(), 0, false).files()).isOne();
            assertThat(table.feature(0, 0).toArray(JAVA_BYTE)).isEqualTo(before);
        }
    }

    @Test
    void oldestFilesAreRemovedFirst() throws IOException {
        Path cache = Files.createDirectories(folder.resolve("cache"));
        Instant now = Instant.now();
        for (int days : new int[] {3, 1, 2}) {
            Path file = Files.write(cache.resolve(days + FeatureFile.SUFFIX), new byte[1000]);
            Files.setLastModifiedTime(file, FileTime.from(now.minus(Duration.ofDays(days))));
        }
        Path partial = Files.write(cache.resolve(".gramian-x.partial"), new byte[10]);
        Files.setLastModifiedTime(partial, FileTime.from(now.minus(Duration.ofDays(2))));
        assertThat(FeatureCache.prune(cache, 2500, true)).isEqualTo(new FeatureCache.Pruned(1, 1000, 2000));
        assertThat(FeatureCache.list(cache)).hasSize(3);
        FeatureCache.Pruned pruned = FeatureCache.prune(cache, 1500, false);
        assertThat(pruned).isEqualTo(new FeatureCache.Pruned(2, 2000, 1000));
        assertThat(FeatureCache.list(cache))
                .singleElement()
                .satisfies(entry -> assertThat(entry.file()).hasFileName("1.features"));
        assertThat(partial).doesNotExist();
    }

    @Test
    void missingSpaceIsFoundBeforehand() throws IOException {
        try (FeatureCache cache = open()) {
            cache.requireSpace(100, 100);
            assertRejected(IOException.class, () -> cache.requireSpace(101, 100));
        }
        Files.writeString(folder.resolve("file"), "");
        assertThatThrownBy(() -> FeatureCache.open(Optional.of(folder.resolve("file/cache")), folder, _ -> {}))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("--no-cache");
    }

    @Test
    void temporaryCacheIsRemoved() throws IOException {
        FeatureCache cache = FeatureCache.open(Optional.empty(), folder, _ -> {});
        table(extraction(network, DType.F32, cache), samples, crops).close();
        assertThat(cache.folder()).isNotEmptyDirectory();
        cache.close();
        assertThat(cache.folder()).doesNotExist();
    }

    @Test
    void nonFiniteFeaturesAreRefused() throws IOException {
        for (double factor : new double[] {1e6, Double.POSITIVE_INFINITY}) {
            try (FrozenBackbone loud = FrozenBackbone.withoutWeights(Backbone.of("filters"), Device.CPU);
                    Scope _ = Scope.open()) {
                for (Parameter parameter : loud.parameters().all()) {
                    parameter.set(parameter.value().mul(factor));
                }
                assertRejected(() -> features(loud, DType.F16));
            }
        }
    }
}
