package org.gramian.run.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.autodiff.Parameter;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.model.Model;
import org.gramian.run.config.DefaultResolver;
import org.gramian.run.config.DefaultsContext;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.plan.Probe.Pace;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.TrainingData.Parts;
import org.junit.jupiter.api.Test;

final class WorkloadTest {
    private static final Dataset DATASET = new Dataset(
            Path.of("photos"),
            List.of("stone", "wood"),
            IntStream.range(0, 60)
                    .mapToObj(i -> new Sample("p%02d.jpg".formatted(i), i % 2, Path.of("photos", "p" + i + ".jpg")))
                    .toList());

    private static RunConfig config(String... pairs) {
        Settings requested = Settings.NONE;
        for (String pair : pairs) {
            String[] parts = pair.split("=", 2);
            requested = requested.with(parts[0], parts[1]);
        }
        return RunConfig.of(
                DefaultResolver.complete(requested, new DefaultsContext(DATASET, List.of(), Device.Kind.CPU)));
    }

    @Test
    void endingIsEvaluationGalleryAndReportOfOneFold() {
        Pace pace = new Pace(0, 1, 0, 0, 0);
        Workload frozen = work(config("data.protocol=thirds:3", "data.crops=resize:96"));
        int test = frozen.folds().getFirst().test();
        assertThat(Estimate.of(frozen, pace, 1).ending())
                .as("features of the test images, with a margin, and the report")
                .isEqualTo(Duration.ofMillis(Math.round(1000 * (1.5 * test + 3))));
        Workload tuned = work(config("data.protocol=thirds:3", "data.crops=resize:96", "stage2.epochs=1"));
        assertThat(Estimate.of(tuned, pace, 1).ending())
                .isGreaterThan(Estimate.of(frozen, pace, 1).ending());
    }

    private static Workload work(RunConfig config) {
        return work(config, 4);
    }

    private static Workload work(RunConfig config, int validation) {
        SequencedMap<String, Parts> folds = new LinkedHashMap<>();
        for (Fold fold : config.options().protocol().folds(DATASET, Duplicates.NONE, 0)) {
            List<Sample> training = samples(fold.train());
            folds.put(
                    fold.name(),
                    new Parts(
                            training.subList(validation, training.size()),
                            training.subList(0, validation),
                            samples(fold.test())));
        }
        return Workload.of(config, DATASET.classes().size(), folds);
    }

    private static List<Sample> samples(List<Integer> indexes) {
        return indexes.stream().map(DATASET.samples()::get).toList();
    }

    @Test
    void imagesOfAFoldAreCountedOnce() {
        Workload work = work(config("data.protocol=thirds:3"));
        assertThat(work.folds()).hasSize(3).allSatisfy(fold -> {
            assertThat(fold.training() + fold.validation() + fold.test()).isEqualTo(60);
            assertThat(fold.validation()).isEqualTo(4);
            assertThat(fold.test()).isEqualTo(20);
        });
    }

    @Test
    void featuresThatFoldsShareAreComputedOnce() {
        assertThat(work(config("data.protocol=thirds:3", "data.crops=paper"), 0).features())
                .isEqualTo(60 * 15);
        assertThat(work(config("data.protocol=thirds:1", "data.crops=paper"), 4).features())
                .isEqualTo(36 * 15 + 24 * 5);
    }

    @Test
    void testCropsAreAmongTrainingCrops() {
        Sample sample = DATASET.samples().getFirst();
        for (String plan : List.of("paper", "paper+flips", "center", "center+flips", "ten", "resize")) {
            var crops = config("data.crops=" + plan).options().crops();
            assertThat(IntStream.range(0, crops.training(5).count())
                            .mapToObj(i -> crops.training(5).key(i, sample)))
                    .as(plan)
                    .containsAll(IntStream.range(0, crops.testing().count())
                            .mapToObj(i -> crops.testing().key(i, sample))
                            .toList());
        }
    }

    @Test
    void sizesFollowFromTheNetwork() {
        Workload work = work(config(
                "network.backbone=googlenet",
                "network.weights=googlenet",
                "network.pooling=bcnn",
                "data.crops=center"));
        assertThat(work.featureShape()).isEqualTo(Shape.of(832, 14, 14));
        assertThat(work.descriptorSize()).isEqualTo(832 * 833 / 2);
        assertThat(work.headParameters()).isEqualTo(2 * (832L * 833 / 2 + 1));
        assertThat(work.cacheBytes()).isGreaterThanOrEqualTo(60L * 832 * 14 * 14 * 4);
        assertThat(work.backboneParameters()).isPositive();
    }

    @Test
    void fineTuningTakesMoreMemoryAndTime() {
        String[] network = {"network.backbone=vgg16", "network.weights=vgg16"};
        Workload without = work(config(network));
        String[] tuned = Arrays.copyOf(network, 3);
        tuned[2] = "stage2.epochs=2";
        Workload with = work(config(tuned));
        assertThat(with.memoryBytes()).isGreaterThan(2 * without.memoryBytes());
        Pace pace = new Pace(0.01, 0.1, 0.2, 0.5, 0.3);
        Estimate less = Estimate.of(without, pace, 2);
        Estimate more = Estimate.of(with, pace, 2);
        assertThat(less.stage2()).isEqualTo(Duration.ZERO);
        assertThat(more.total()).isEqualTo(less.total().plus(more.stage2()));
        assertThat(less.features()).isEqualTo(Duration.ofSeconds(6)); // 60 images of 1 crop
    }

    @Test
    void withoutStage1NoFeaturesAreKept() {
        assertThat(work(config("stage1.epochs=0", "stage2.epochs=1", "network.classifier=softmax"))
                        .features())
                .isZero();
    }

    /** 36 training images; validation and test images do not count. */
    @Test
    void solverTakesOnePassOverTheFeatures() {
        Workload work = work(config("data.protocol=thirds:1", "network.classifier=svm", "network.pooling=average"));
        assertThat(work.features()).isEqualTo(60);
        assertThat(Estimate.of(work, new Pace(0, 0, 1, 0, 1), 2).stage1()).isEqualTo(Duration.ofSeconds(36));
    }

    /** 36 training images with 15 crops each, 4 validation images; an epoch has 17 steps of 32 crops. */
    @Test
    void withoutAugmentationEveryCropIsDecodedAndEveryStepUpdatesParameters() {
        Workload work = work(config(
                "data.protocol=thirds:1",
                "data.crops=paper",
                "data.augment=none",
                "stage1.epochs=2",
                "stage2.epochs=3"));
        Estimate decoding = Estimate.of(work, new Pace(1, 0, 0, 0, 0), 2);
        assertThat(decoding.stage2()).isEqualTo(Duration.ofSeconds(3 * (36 * 15 + 4) / 2));
        Estimate updates = Estimate.of(work, new Pace(0, 0, 0, 0, 1), 2);
        assertThat(updates.stage1()).isEqualTo(Duration.ofSeconds(2 * 17));
        assertThat(updates.stage2()).isEqualTo(Duration.ofSeconds(3 * 17));
    }

    /** 36 images to train on, 4 to validate. */
    @Test
    void augmentedImagesAreDecodedOnce() {
        Workload work =
                work(config("data.protocol=thirds:1", "data.crops=center", "data.augment=standard", "stage2.epochs=3"));
        assertThat(Estimate.of(work, new Pace(1, 0, 0, 0, 0), 2).stage2())
                .isEqualTo(Duration.ofSeconds((36 + 3 * 4) / 2));
    }

    @Test
    void probeDoesNotChangeTheModel() {
        RunConfig config = config(
                "network.backbone=filters",
                "data.crops=center:32",
                "network.pooling=bcnn",
                "network.logit-norm=true",
                "stage2.epochs=1");
        FrozenBackbone network = FrozenBackbone.withoutWeights(config.network().backbone(), Device.CPU);
        try (Model model = Model.begin(
                network.backbone(),
                network.parameters(),
                config.network().head(2, 10),
                new SplittableRandom(1),
                Device.CPU)) {
            List<double[]> before = values(model);
            Pace pace = new Probe(model, config, new ImageReader(ImageLimits.DEFAULT)).measure(List.of());
            assertThat(pace.feature()).isPositive();
            assertThat(pace.head()).isPositive();
            assertThat(pace.all()).isGreaterThan(pace.head() / 10);
            assertThat(pace.decoding()).isZero();
            assertThat(pace.update()).isPositive();
            assertThat(values(model)).usingRecursiveComparison().isEqualTo(before);
        }
    }

    private static List<double[]> values(Model model) {
        return model.headParameters().all().stream()
                .map(Parameter::value)
                .map(value -> value.toDoubles())
                .toList();
    }
}
