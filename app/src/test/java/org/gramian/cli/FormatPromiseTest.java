package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.Inspection;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.model.Classifier;
import org.gramian.model.Prediction;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.Device;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of released versions stay readable, with the same predictions; they are never replaced. */
class FormatPromiseTest {
    private static final Path FOLDER = Path.of("src/test/resources/formats/0.1.0");
    private static final Path DOTTED = FOLDER.resolve("dotted_01.jpg");
    private static final Path STRIPED = FOLDER.resolve("striped_01.jpg");

    @ParameterizedTest
    @CsvSource({"classifier.safetensors, false", "classifier.safetensors, true", "classifier.onnx, false"})
    void classifierPredictsAsInItsVersion(String file, boolean libtorch) throws IOException {
        Path path = FOLDER.resolve(file);
        try (Classifier classifier = libtorch ? Classifier.load(path, Device.CPU) : Classifier.load(path)) {
            Prediction dotted = classifier.predict(DOTTED);
            assertThat(dotted.className()).isEqualTo("dotted");
            assertThat(dotted.probability()).isCloseTo(0.6495165, within(1e-4));
            assertThat(dotted.pValue().orElseThrow()).isCloseTo(16.0 / 31, within(1e-9));
            Prediction striped = classifier.predict(STRIPED);
            assertThat(striped.className()).isEqualTo("striped");
            assertThat(striped.probability()).isCloseTo(0.9115072, within(1e-4));
            assertThat(striped.isUnknown()).isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource({"detector.safetensors, false", "detector.safetensors, true", "detector.onnx, false"})
    void detectorInspectsAsInItsVersion(String file, boolean libtorch) throws IOException {
        Path path = FOLDER.resolve(file);
        try (Detector detector = libtorch ? Detector.load(path, Device.CPU) : Detector.load(path)) {
            assertThat(detector.inspect(DOTTED).score()).isCloseTo(0.2795484, within(1e-4));
            Inspection striped = detector.inspect(STRIPED);
            assertThat(striped.score()).isCloseTo(2.4533941, within(1e-4));
            assertThat(striped.pValue()).isCloseTo(1.0 / 13, within(1e-9));
            assertThat(striped.isAnomalous()).isTrue();
            assertThat(striped.regions()).singleElement().satisfies(region -> {
                assertThat(region.x()).isEqualTo(36);
                assertThat(region.y()).isEqualTo(24);
            });
        }
    }

    @Test
    void evaluationHasMeasuresOfItsVersion() throws IOException {
        Evaluation evaluation = EvaluationFile.read(FOLDER.resolve("evaluation.json"));
        assertThat(evaluation.predictions()).hasSize(6);
        assertThat(evaluation.accuracy().right()).isEqualTo(5);
        assertThat(evaluation.calibration().logLoss()).isCloseTo(0.2823852335193412, within(1e-12));
    }

    @Test
    void configurationHasValuesOfItsVersion() {
        Settings settings = ConfigFile.read(FOLDER.resolve("config.yaml"));
        assertThat(settings.get(TrainConfig.BACKBONE)).isEqualTo("filters");
        assertThat(settings.get(TrainConfig.SEED)).isZero();
        assertThat(settings.get(TrainConfig.CROPS).size()).isEqualTo(64);
        assertThat(settings.wanted().values()).containsOnlyKeys("network.backbone", "network.pooling", "data.crops");
    }
}
