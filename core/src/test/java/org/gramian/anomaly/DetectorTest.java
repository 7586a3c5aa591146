package org.gramian.anomaly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import javax.imageio.ImageIO;
import org.gramian.anomaly.DetectorTraining.Options;
import org.gramian.anomaly.evaluate.AnomalyDataset;
import org.gramian.anomaly.evaluate.DetectorEvaluation;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.backbone.weights.Weights;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.model.Classifier;
import org.gramian.model.Model;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelFileException;
import org.gramian.tensor.Device;
import org.gramian.testing.TinyModel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DetectorTest {
    private static final Options OPTIONS = new Options(64, 0, OptionalDouble.of(0.1), 1, 2);

    @TempDir
    static Path folder;

    private static Path file;
    private static DetectorTraining.Result trained;

    /** Stripes with noise. */
    private static Image good(int index) {
        SplittableRandom random = new SplittableRandom(index);
        byte[] rgb = new byte[3 * 96 * 96];
        for (int i = 0; i < rgb.length; i++) {
            int column = i / 3 % 96;
            rgb[i] = (byte) (100 + 40 * (column / 6 % 2) + random.nextInt(24));
        }
        return new Image(96, 96, rgb);
    }

    private static Image defective(int index) {
        Image image = good(index);
        byte[] rgb = image.rgb().clone();
        for (int y = 60; y < 80; y++) {
            for (int x = 10; x < 34; x++) {
                for (int c = 0; c < 3; c++) {
                    rgb[3 * (y * 96 + x) + c] = (byte) (20 + 60 * c);
                }
            }
        }
        return new Image(96, 96, rgb);
    }

    private static void write(Image image, Path file) throws IOException {
        ImageIO.write(image.toBufferedImage(), "png", file.toFile());
    }

    private static List<ImageSource> sources(int from, int to) throws IOException {
        List<ImageSource> sources = new ArrayList<>();
        for (int i = from; i < to; i++) {
            Path path = folder.resolve("good-" + i + ".png");
            if (Files.notExists(path)) {
                write(good(i), path);
            }
            sources.add(ImageSource.of(path));
        }
        return sources;
    }

    private static DetectorTraining.Result train(
            List<ImageSource> good, List<ImageSource> defects, Options options, BooleanSupplier cancelled)
            throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            Backbone backbone = WeightStore.ofProcess().backbone("gramian-s");
            Weights weights = WeightStore.ofProcess().find(backbone, "gramian-s", arena, _ -> {});
            return new DetectorTraining(backbone, weights, Device.CPU, options, _ -> {}, cancelled)
                    .train(good, defects, new LinkedHashMap<>());
        }
    }

    @BeforeAll
    static void train() throws Exception {
        trained = train(sources(0, 40), List.of(), OPTIONS, () -> false);
        file = folder.resolve("model.safetensors");
        trained.detector().save(file);
    }

    @Test
    void findsDefectAndItsPlace() {
        Inspection found = trained.detector().inspect(defective(100));
        assertThat(found.isAnomalous()).isTrue();
        assertThat(found.pValue()).isEqualTo(1.0 / 41);
        AnomalyMap.Region region = found.regions().getFirst();
        assertThat(region.x()).isLessThan(34);
        assertThat(region.x() + region.width()).isGreaterThan(10);
        assertThat(region.y() + region.height()).isGreaterThan(60);
    }

    @Test
    void goodImagesAreRarelyAnomalous() {
        long alarms = 0;
        for (int i = 200; i < 260; i++) {
            alarms += trained.detector().inspect(good(i)).isAnomalous() ? 1 : 0;
        }
        assertThat(alarms).isLessThanOrEqualTo(15); // a rate of 0.1; 15 of 60 or more have a probability of 0.001
    }

    @Test
    void loadedDetectorGivesSameResult() throws Exception {
        try (Detector loaded = Detector.load(file)) {
            Inspection expected = trained.detector().inspect(defective(7));
            Inspection found = loaded.inspect(defective(7));
            assertThat(found.score()).isEqualTo(expected.score());
            assertThat(found.map().values()).containsExactly(expected.map().values());
            assertThat(loaded.card()).isEqualTo(trained.detector().card());
        }
        assertThat(Detector.isDetector(file)).isTrue();
    }

    @Test
    void higherRateOfFalseAlarmsLowersThreshold() {
        assertThat(trained.detector().withFalseAlarms(0.3).card().threshold())
                .isLessThan(trained.detector().card().threshold());
        assertThat(trained.detector().withFalseAlarms(0.01).card().threshold()).isInfinite();
    }

    @Test
    void tilesFindSmallDefectInLargeImage() throws Exception {
        try (Detector detector = train(
                        sources(0, 12), List.of(), new Options(64, 64, OptionalDouble.of(0.1), 1, 2), () -> false)
                .detector()) {
            Inspection found = detector.inspect(defective(100));
            assertThat(found.isAnomalous()).isTrue();
            assertThat(found.map().columns()).isGreaterThan(4);
        }
    }

    @Test
    void thresholdFallsWithoutTheHighestScores() {
        DetectorCard card = trained.detector().card();
        assertThat(card.thresholdWithout(0)).isEqualTo(card.threshold());
        assertThat(card.withFalseAlarms(0.2).thresholdWithout(8))
                .isLessThan(card.withFalseAlarms(0.2).threshold());
    }

    @Test
    void unsetRateIsTheLowestThatFewImagesAllow() throws Exception {
        Options unset = new Options(64, 0, OptionalDouble.empty(), 1, 2);
        try (Detector detector =
                train(sources(0, 12), List.of(), unset, () -> false).detector()) {
            assertThat(detector.falseAlarms()).isEqualTo(1 / 13.0);
            assertThat(detector.card().threshold()).isFinite();
        }
    }

    @Test
    void comparesCandidatesByGivenDefects() throws Exception {
        List<ImageSource> defects = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Path path = folder.resolve("defect-" + i + ".png");
            write(defective(i), path);
            defects.add(ImageSource.of(path));
        }
        DetectorTraining.Result result = train(sources(0, 20), defects, OPTIONS, () -> false);
        try (Detector detector = result.detector()) {
            assertThat(detector.card().metrics().get("auroc_defects")).isCloseTo(1, within(1e-9));
            assertThat(result.candidates())
                    .filteredOn(DetectorTraining.Candidate::chosen)
                    .hasSize(1);
        }
    }

    @Test
    void namesImagesThatLookOdd() throws Exception {
        List<ImageSource> sources = new ArrayList<>(sources(0, 20));
        Path odd = folder.resolve("odd.png");
        write(defective(3), odd);
        sources.add(ImageSource.of(odd));
        DetectorTraining.Result result = train(sources, List.of(), OPTIONS, () -> false);
        result.detector().close();
        assertThat(result.odd()).contains(odd.toString());
    }

    @Test
    void rejectsTooFewImages() {
        assertThatThrownBy(() -> train(sources(0, 3), List.of(), OPTIONS, () -> false))
                .hasMessageContaining("found 3");
    }

    @Test
    void cancellationEndsTraining() {
        assertThatThrownBy(() -> train(sources(0, 20), List.of(), OPTIONS, () -> true))
                .isInstanceOf(CancellationException.class);
    }

    @Test
    void rejectsClassifierAndDamagedFiles() throws Exception {
        Path classifier = folder.resolve("classifier.safetensors");
        try (Model model = TinyModel.of(1)) {
            ModelFile.write(classifier, model, TinyModel.card("resize:64"));
        }
        assertThatThrownBy(() -> Detector.load(classifier))
                .isInstanceOf(ModelFileException.class)
                .hasMessageContaining("classifier");
        assertThatThrownBy(() -> Classifier.load(file))
                .isInstanceOf(ModelFileException.class)
                .hasMessageContaining("Detector.load");
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 100] ^= 1;
        Path damaged = Files.write(folder.resolve("damaged.safetensors"), bytes);
        assertThatThrownBy(() -> Detector.load(damaged)).isInstanceOf(ModelFileException.class);
    }

    @Test
    void evaluatesFolderInLayoutOfMvtec() throws Exception {
        Path root = Files.createDirectories(folder.resolve("mvtec"));
        for (String sub : List.of("train/good", "test/good", "test/spot", "ground_truth/spot")) {
            Files.createDirectories(root.resolve(sub));
        }
        byte[] mask = new byte[3 * 96 * 96];
        for (int y = 60; y < 80; y++) {
            Arrays.fill(mask, 3 * (y * 96 + 10), 3 * (y * 96 + 34), (byte) 255);
        }
        for (int i = 0; i < 8; i++) {
            write(good(i), root.resolve("train/good/" + i + ".png"));
            write(good(300 + i), root.resolve("test/good/" + i + ".png"));
            write(defective(400 + i), root.resolve("test/spot/" + i + ".png"));
            write(new Image(96, 96, mask), root.resolve("ground_truth/spot/" + i + "_mask.png"));
        }
        assertThat(AnomalyDataset.isMvtec(root)).isTrue();
        AnomalyDataset dataset = AnomalyDataset.mvtec(root);
        assertThat(dataset.good()).hasSize(8);
        DetectorEvaluation found = DetectorEvaluation.of(trained.detector(), dataset.test(), _ -> {});
        assertThat(found.imageAuroc().orElseThrow()).isEqualTo(1);
        assertThat(found.pixelAuroc().orElseThrow()).isGreaterThan(0.9);
        assertThat(found.aupro().orElseThrow()).isGreaterThan(0.7);
        assertThat(found.falseAlarms().orElseThrow().count()).isEqualTo(8);
        assertThat(found.recall()).isEqualTo(1);
    }
}
