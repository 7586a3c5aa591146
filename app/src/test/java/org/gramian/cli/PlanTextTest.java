package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.gramian.image.dataset.Dataset;
import org.gramian.run.config.Choices;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Origin;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.config.Surroundings;
import org.gramian.run.plan.Estimate;
import org.gramian.run.plan.FoldSize;
import org.gramian.run.plan.MemoryEstimate;
import org.gramian.run.plan.Workload;
import org.gramian.tensor.Device;
import org.junit.jupiter.api.Test;

class PlanTextTest {
    private static final Settings SETTINGS = Choices.complete(
            Settings.NONE
                    .with("network.backbone", "googlenet", Origin.flag("--backbone"))
                    .with("network.classifier", "softmax", Origin.flag("--classifier")),
            new Surroundings(
                    new Dataset(Path.of("photos"), List.of("stone", "wood"), List.of()), List.of(), Device.Kind.CPU));

    private static MemoryEstimate memory(Workload work) {
        return MemoryEstimate.of(work, Device.CPU, 2);
    }

    @Test
    void theConfigurationShowsEveryKeyWithItsOrigin() {
        List<String> lines = PlanText.configuration(SETTINGS).lines().toList();
        assertThat(lines).hasSize(Keys.all().size() + 1);
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).matches("  network.backbone +googlenet +--backbone"))
                .anySatisfy(line -> assertThat(line).matches("  optimizer.momentum +0.9 +default"));
    }

    @Test
    void thePlanShowsPicturesShapesParametersMemoryAndTime() {
        Workload work =
                new Workload(RunConfig.of(SETTINGS), 10, List.of(new FoldSize("third 1", 600, 67, 333)), 2 * 1000);
        Estimate time = new Estimate(Duration.ofSeconds(90), Duration.ofMinutes(118), Duration.ZERO);
        assertThat(PlanText.work(work, memory(work), Optional.of(time)))
                .contains("third 1      600 pictures to train on, 67 held back to judge epochs, 333 to test")
                .contains("resize:224: 1 of a picture to train on, 1 of others")
                .contains("2000 of [832, 14, 14] by googlenet:inception_4e, at most 1.3 GB on disk")
                .contains("million of the network, 574", "descriptors of length 8256, 10 classes")
                .containsPattern(
                        "memory       about [0-9.]+ GB: images [0-9.]+ GB, feature extraction [0-9.]+ GB, training")
                .contains(
                        "about 1 h 59 min if all epochs are needed",
                        "features 1 min 30 s, stage 1 1 h 58 min, stage 2 left out");
        assertThat(PlanText.work(work, memory(work), Optional.empty())).doesNotContain("time");
    }

    @Test
    void thePlanSaysWhatTheTailOfTheNetworkIs() {
        RunConfig config = RunConfig.of(SETTINGS.with(Keys.POOLING, "conv:same/tail"));
        Workload work = new Workload(config, 10, List.of(new FoldSize("third 1", 600, 67, 333)), 0);
        assertThat(PlanText.work(work, memory(work), Optional.empty()))
                .contains(
                        "tail         the tail of googlenet after inception_4e: pool4/3x3_s2, inception_5a, inception_5b,"
                                + " pool5")
                .contains("million of the network, 2.5 million of its tail, 703306 new")
                .contains("descriptors of length 1024, 10 classes");
    }
}
