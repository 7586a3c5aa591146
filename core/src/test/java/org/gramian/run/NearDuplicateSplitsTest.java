package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Fidelity;
import org.gramian.run.config.Settings;
import org.gramian.tensor.Device;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Solved;
import org.gramian.train.loop.HeadSearch;
import org.gramian.train.loop.TrainingContext;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random splits and cross-validation of 3 classes; the first has 3 near-duplicates, the second 2. */
final class NearDuplicateSplitsTest {
    private static final int SIDE = 64;
    private static final List<Set<String>> GROUPS =
            List.of(Set.of("c0/0.png", "c0/3.png", "c0/7.png"), Set.of("c1/2.png", "c1/5.png"));

    @TempDir
    private Path folder = Path.of("");

    private final List<String> remarks = new ArrayList<>();
    private Dataset dataset = new Dataset(folder, List.of(), List.of());
    private Settings settings = Settings.NONE;

    @BeforeEach
    void paint() throws IOException {
        dataset = PaintedImages.folders(folder.resolve("images"), 9, 9, 9);
        for (Sample sample : dataset.samples()) {
            int seed = sample.name().hashCode();
            for (Set<String> group : GROUPS) {
                seed = group.contains(sample.name()) ? group.hashCode() : seed;
            }
            write(sample, seed);
        }
        settings = Settings.NONE
                .with("network.backbone", "filters")
                .with("data.crops", CropPlan.parse("center:32"))
                .with("network.pooling", "average")
                .with("data.protocol", Protocol.parse("thirds:3"))
                .with("data.validation", 0.2);
    }

    /** Blocks of random grey; a name changes single pixels, so that equal seeds make near-duplicates of different bytes. */
    private static void write(Sample sample, int seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        int[] grey = random.ints(SIDE, 0, 220).toArray();
        BufferedImage image = new BufferedImage(SIDE, SIDE, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < SIDE; y++) {
            for (int x = 0; x < SIDE; x++) {
                image.setRGB(x, y, 0x010101 * grey[(y / 8) * 8 + x / 8]);
            }
        }
        image.setRGB(sample.name().charAt(3) - '0', 0, 0xffffff);
        ImageIO.write(image, "png", sample.file().toFile());
    }

    /** Gratings of random colour, frequency and direction; a white pixel distinguishes images of one seed. */
    private static void writeGratings(Sample sample, int seed, int white) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        double[] shift = random.doubles(9, -0.9, 0.9).toArray();
        BufferedImage image = new BufferedImage(SIDE, SIDE, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < SIDE; y++) {
            for (int x = 0; x < SIDE; x++) {
                int rgb = 0;
                for (int c = 0; c < 3; c++) {
                    double wave = Math.sin(3 * shift[3 * c] * x + 3 * shift[3 * c + 1] * y);
                    rgb = rgb << 8 | (int) (127 + 60 * shift[3 * c + 2] + 60 * wave);
                }
                image.setRGB(x, y, rgb);
            }
        }
        image.setRGB(white, 0, 0xffffff);
        ImageIO.write(image, "png", sample.file().toFile());
    }

    private TrainingRun trainer() {
        return TrainingRun.of(dataset)
                .with(settings)
                .with(new WeightStore(folder.resolve("weights")), Optional.empty())
                .with(TrainingContext.of(Device.CPU).withThreads(1).withListener(event -> {
                    if (event instanceof TrainEvent.Warning(String text)) {
                        remarks.add(text);
                    }
                }));
    }

    private RunPlan plan() throws IOException, InterruptedException {
        TrainingRun trainer = trainer();
        return trainer.plan(trainer.audit());
    }

    private static Set<String> names(List<Sample> samples) {
        return samples.stream().map(Sample::name).collect(Collectors.toSet());
    }

    @Test
    void nearDuplicatesStayOnOneSideOfEverySplit() throws IOException, InterruptedException {
        for (String protocol : List.of("holdout:0.3", "thirds:3", "kfold:3", "half:3")) {
            for (long seed = 0; seed < 5; seed++) {
                settings =
                        settings.with("data.protocol", Protocol.parse(protocol)).with("seed", seed);
                RunPlan plan = plan();
                assertThat(plan().fingerprint()).as("the same seed").isEqualTo(plan.fingerprint());
                for (FoldPlan fold : plan.folds()) {
                    Map<String, Set<String>> parts = new LinkedHashMap<>();
                    parts.put("training", names(fold.parts().training()));
                    parts.put("validation", names(fold.parts().validation()));
                    parts.put("test", names(fold.parts().test()));
                    for (Set<String> group : GROUPS) {
                        assertThat(parts.values()).as(protocol).anyMatch(part -> part.containsAll(group));
                    }
                }
            }
        }
        assertThat(remarks).contains("2 groups of near-duplicates (5 images) kept on one side of each split");
    }

    @Test
    void nearDuplicatesAreSplitIfIgnored() throws IOException, InterruptedException {
        String plain = Protocol.parse("thirds:3")
                .plan(dataset, Duplicates.of(dataset), 0)
                .fingerprint()
                .hex();
        settings = settings.with("seed", 0L);
        assertThat(plan().fingerprint().hex()).isNotEqualTo(plain);
        Settings together = settings;
        settings = together.with("data.near-duplicates", false);
        assertThat(plan().fingerprint().hex()).isEqualTo(plain);
        settings = together.with("fidelity", Fidelity.PAPER);
        remarks.clear();
        assertThat(plan().fingerprint().hex()).isEqualTo(plain);
        assertThat(remarks).noneMatch(text -> text.contains("near-duplicates"));
    }

    @Test
    void classOfNearDuplicatesOnlyIsSplitWithARemark() throws IOException, InterruptedException {
        for (Sample sample : dataset.samples()) {
            if (sample.label() == 2) {
                write(sample, 17);
            }
        }
        plan();
        assertThat(remarks).anyMatch(text -> text.contains("near-duplicates") && text.contains("cannot"));
    }

    @Test
    void crossValidationKeepsNearDuplicatesTogether() throws IOException, InterruptedException {
        Set<Set<String>> groups = Set.copyOf(GROUPS);
        assertThat(duplicates(plan())).isEqualTo(groups);
        Path file = folder.resolve("images/split.csv");
        StringBuilder rows = new StringBuilder("path,label,fold\n");
        for (Sample sample : dataset.samples()) {
            String split = sample.name().matches("c\\d/[468].png") ? "test" : "train";
            rows.append("%s,c%d,%s%n".formatted(sample.name(), sample.label(), split));
        }
        Files.writeString(file, rows);
        Settings folders = settings;
        Dataset images = dataset;
        dataset = Layouts.open(file);
        settings = folders.with("data.protocol", Protocol.parse("given"));
        assertThat(plan().near()).isEmpty();
        assertThat(duplicates(plan())).isEqualTo(groups);
        dataset = images;
        settings = folders.with("data.near-duplicates", false);
        assertThat(duplicates(plan())).isEmpty();
    }

    private static Set<Set<String>> duplicates(RunPlan plan) {
        return plan.duplicates().stream()
                .map(group ->
                        names(group.stream().map(plan.dataset().samples()::get).toList()))
                .collect(Collectors.toSet());
    }

    /** Every image has one near-duplicate, and nothing else in common with its class. */
    @Test
    void nearDuplicatesDecideNeitherPoolingNorClassifier() throws IOException, InterruptedException {
        dataset = PaintedImages.folders(folder.resolve("pairs"), 16, 16, 16);
        for (Sample sample : dataset.samples()) {
            int number = Integer.parseInt(sample.name().replaceAll(".*/|\\.png", ""));
            writeGratings(sample, 1000 * sample.label() + number / 2, number % 2);
        }
        settings = settings.with("network.pooling", "auto")
                .with("network.classifier", Optional.of(LinearSolver.parse("svm")))
                .with("data.protocol", Protocol.parse("holdout:0.25"))
                .with("data.validation", 0.0)
                .with("gallery", false)
                .with("stage2.epochs", 0);
        double[] together = accuracies("together");
        settings = settings.with("data.near-duplicates", false);
        double[] ignored = accuracies("ignored");
        for (int i = 0; i < together.length; i++) {
            assertThat(together[i]).isLessThan(0.6);
            assertThat(ignored[i]).isGreaterThan(together[i] + 0.2);
        }
    }

    /** Accuracies on training images: of the best pooling, and of the classifier's cross-validation. */
    private double[] accuracies(String place) throws IOException, InterruptedException {
        List<Solved> solved = new ArrayList<>();
        TrainingRun trainer = trainer();
        trainer.with(trainer.context().withListener(event -> {
                    if (event instanceof Solved found) {
                        solved.add(found);
                    }
                }))
                .train(folder.resolve(place));
        double compared = HeadSearch.Result.read(folder.resolve(place).resolve(HeadSearch.FILE))
                .best()
                .accuracy();
        return new double[] {compared, solved.getFirst().values().getOrDefault("cv_accuracy", -1.0)};
    }
}
