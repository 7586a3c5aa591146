package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.backbone.Backbones;
import org.gramian.backbone.onnx.HostileGraphs;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackbonesCommandTest {
    @Test
    void allNetworksAreListedWithLayerParametersAndLicence() {
        Run run = Run.of("backbones").done();
        assertThat(run.out()).contains(Backbones.names());
        assertThat(run.out().lines())
                .anyMatch(line -> line.matches("vgg16 +conv5_3 +512×14×14 +14,714,688 +138,357,544"))
                .anyMatch(line -> line.matches("filters +bank +120×28×28 +0 +0"));
        assertThat(run.out()).has(facts("BSD-3-Clause", "Apache-2.0"));
    }

    @Test
    void listsLayersAtGivenSize() {
        Run run = Run.of("backbones", "vgg16", "--size", 448).done();
        assertThat(run.out().lines())
                .anyMatch(line -> line.matches("conv1_1 +64×448×448 +1,792"))
                .anyMatch(line -> line.matches("conv5_3 +512×28×28 +14,714,688 +\\(default\\)"))
                .anyMatch(line -> line.matches("fc6 +\\D+ +117,479,232"));
        assertThat(run.out()).has(facts("Simonyan", "RGB", "224×224", "123.675"));
    }

    @Test
    void wrongNamesAndSizesAreWrongInput() {
        Run.of("backbones", "resnet81").failed(ExitCode.USAGE, "'resnet81'", "'resnet18'");
        Run.of("backbones", "--size", 0).failed(ExitCode.USAGE, "--size", "1", "0");
    }

    /** A chain of 20,000 layers took minutes, each layer being printed in a pass over all. */
    @Test
    void shortensTableOfManyLayers(@TempDir Path folder) throws IOException {
        Path file = Files.write(
                folder.resolve("chain.onnx"), HostileGraphs.crafted().get("relu"));
        Run run = Run.of("backbones", file).done();
        assertThat(run.out()).contains("and 19,000 more").hasLineCount(1008);
    }
}
