package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.run.config.DefaultResolver;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
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
                DefaultResolver.complete(requested, DefaultResolver.Context.of(DATASET, List.of(), Device.Kind.CPU)));
    }

    private static Workload work(RunConfig config) {
        return work(config, 4);
    }

    private static Workload work(RunConfig config, int validation) {
        SequencedMap<String, Parts> folds = new LinkedHashMap<>();
        for (Fold fold : config.get(TrainConfig.PROTOCOL).folds(DATASET, Duplicates.NONE, 0)) {
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
    void featuresThatFoldsShareAreComputedOnce() {
        assertThat(work(config("data.protocol=thirds:3", "data.crops=paper"), 0).features())
                .isEqualTo(60 * 15);
        assertThat(work(config("data.protocol=thirds:1", "data.crops=paper"), 4).features())
                .isEqualTo(36 * 15 + 24 * 5);
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
    void fineTuningTakesMoreMemory() {
        String[] network = {"network.backbone=vgg16", "network.weights=vgg16"};
        Workload without = work(config(network));
        String[] tuned = Arrays.copyOf(network, 3);
        tuned[2] = "stage2.epochs=2";
        Workload with = work(config(tuned));
        assertThat(with.memoryBytes()).isGreaterThan(2 * without.memoryBytes());
    }

    @Test
    void withoutStage1NoFeaturesAreKept() {
        assertThat(work(config("stage1.epochs=0", "stage2.epochs=1", "network.classifier=softmax"))
                        .features())
                .isZero();
    }
}
