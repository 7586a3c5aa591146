package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.crop.CropPlan;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Methods.Method;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.Cancellation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks of a plan before anything is computed; no weights are read. */
class FeasibilityTest {
    @TempDir
    private Path folder = Path.of("");

    private SmallRun run = new SmallRun(folder);

    @BeforeEach
    void prepare() throws IOException {
        run = SmallRun.in(folder);
    }

    /** Without epochs, which a solver does not have. */
    private SmallRun on(String backbone, String layer) {
        Settings settings = Settings.NONE
                .with("network.backbone", backbone)
                .with("network.layer", layer)
                .with("data.crops", CropPlan.parse("center:224"))
                .with("data.protocol", run.settings().get(TrainConfig.PROTOCOL));
        return new SmallRun(run.dataset(), settings, run.place());
    }

    @ParameterizedTest
    @CsvSource({"vgg16, conv5_3, conv5_2+conv5_3", "googlenet, inception_4e, inception_4d+inception_4e"})
    void everyMethodCanBePlanned(String backbone, String layer, String two) throws IOException, InterruptedException {
        AuditReport audit = on(backbone, layer).trainer().audit();
        for (Method method : Methods.all()) {
            SmallRun of = on(backbone, method.name().equals("cross-layer") ? two : layer)
                    .with("network.pooling", method.name());
            RunPlan plan = of.trainer().plan(audit);
            assertThat(of.trainer().workload(plan).descriptorSize())
                    .as(method.name())
                    .isPositive();
        }
    }

    private List<String> remarks(String pooling, String classifier) throws IOException, InterruptedException {
        List<String> remarks = new ArrayList<>();
        SmallRun of = on("vgg16", "conv5_3")
                .with("network.pooling", pooling)
                .with("network.classifier", Optional.of(LinearSolver.parse(classifier)));
        TrainingRun trainer = of.trainer(
                event -> {
                    if (event instanceof TrainEvent.Warning(String text) && text.contains("network.classifier=")) {
                        remarks.add(text);
                    }
                },
                Cancellation.onRequest());
        trainer.plan(trainer.audit());
        return remarks;
    }

    @Test
    void untrainedPoolingParametersAreRemarked() throws IOException, InterruptedException {
        assertThat(remarks("conv:same/tail", "mean")).hasSize(1);
        assertThat(remarks("tail", "mean")).isEmpty();
        assertThat(remarks("[fisher:8+tail/l2]/pca:most", "svm")).isEmpty();
    }

    @Test
    void morePrincipalComponentsThanImagesAreRefused() {
        assertThatThrownBy(() -> run.with("network.pooling", "average/pca:8").plan())
                .isInstanceOf(ConfigException.class)
                .has(facts("network.pooling", "4"))
                .hasMessageContaining("pca:8");
    }

    @Test
    void tooLargeDescriptorsForTheSolverAreRefused() {
        SmallRun large = run.with("network.pooling", "conv:20000/bilinear/flat")
                .with("stage1.epochs", 0)
                .with("network.classifier", Optional.of(LinearSolver.parse("svm")));
        assertThatThrownBy(large::plan)
                .isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("network.classifier: ")
                .has(facts("descriptors"));
    }

    @Test
    void tooSmallCropsForTheLayerAreRefused() {
        SmallRun small = on("squeezenet", "fire9").with("data.crops", CropPlan.parse("center:16"));
        assertThatThrownBy(small::plan)
                .isInstanceOf(ConfigException.class)
                .has(facts("data.crops", "16×16", "squeezenet:fire9"));
    }

    @Test
    void tooSmallFeatureMapsForThePoolingAreRefused() {
        assertThatThrownBy(() -> run.with("network.pooling", "pyramid:9").plan())
                .isInstanceOf(ConfigException.class)
                .has(facts("network.pooling", "16×16", "pyramid:9"));
    }
}
