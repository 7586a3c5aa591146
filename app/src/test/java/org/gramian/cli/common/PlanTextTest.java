package org.gramian.cli.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Path;
import java.util.List;
import org.gramian.image.dataset.Dataset;
import org.gramian.run.MemoryEstimate;
import org.gramian.run.Workload;
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.DefaultResolver;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.tensor.Device;
import org.junit.jupiter.api.Test;

class PlanTextTest {
    private static final Settings SETTINGS = DefaultResolver.complete(
            Settings.NONE
                    .with("network.backbone", "googlenet", "--backbone")
                    .with("network.classifier", "softmax", "--classifier"),
            DefaultResolver.Context.of(
                    new Dataset(Path.of("photos"), List.of("stone", "wood"), List.of()), List.of(), Device.Kind.CPU));

    private static MemoryEstimate memory(Workload work) {
        return MemoryEstimate.of(work, Device.CPU, 2);
    }

    @Test
    void theConfigurationShowsEveryKeyWithItsOrigin() {
        List<String> lines = PlanText.configuration(SETTINGS).lines().toList();
        assertThat(lines).hasSize(ConfigKey.all().size() + 1);
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).matches("  network.backbone +googlenet +--backbone"))
                .anySatisfy(line -> assertThat(line).matches("  optimizer.momentum +0.9 +default"));
    }

    @Test
    void thePlanShowsImagesShapesParametersAndMemory() {
        Workload work =
                new Workload(RunConfig.of(SETTINGS), 10, List.of(new Workload.Fold("third 1", 600, 67, 333)), 2 * 1000);
        assertThat(PlanText.work(work, memory(work)))
                .containsPattern("(?m)^ *third 1 +600\\D+67\\D+333\\b")
                .containsPattern("resize:224\\D+1\\D+1\\D")
                .has(facts("2000", "[832, 14, 14]", "googlenet:inception_4e", "1.3 GB"))
                .has(facts("8256", "10"))
                .containsPattern("\\b574\\d{3}\\b")
                .containsPattern("(?m)^ *memory +\\D*[0-9.]+ GB(\\D+[0-9.]+ GB){3}");
    }
}
