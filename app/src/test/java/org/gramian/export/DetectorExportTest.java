package org.gramian.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtSession;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.DetectorNetwork;
import org.gramian.anomaly.Inspection;
import org.gramian.cli.Run;
import org.gramian.cli.TinyDetector;
import org.gramian.cli.TinyModel;
import org.gramian.cli.common.ExitCode;
import org.gramian.export.OpenModel.EngineChoice;
import org.gramian.export.OpenModel.Request;
import org.gramian.image.Image;
import org.gramian.image.resize.Resize;
import org.gramian.model.ModelFileException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DetectorExportTest {
    @TempDir
    private Path folder = Path.of("");

    private Path export(Path model, int opset) throws IOException {
        Path out = folder.resolve("detector.onnx");
        try (Arena arena = Arena.ofShared()) {
            ExportedFile.write(out, ExportedFile.content(DetectorNetwork.read(model, arena), opset), _ -> {});
        }
        return out;
    }

    @ParameterizedTest
    @CsvSource({
        "gramian-s, layer2.0+layer3.0, GAUSSIAN, true, 17",
        "gramian-s, layer2.0+layer3.0, NEIGHBOURS, false, 13",
        "gramian-s, layer2.0+layer3.0, POSITIONS, true, 21",
        "squeezenet, fire3+fire5, NEIGHBOURS, true, 18",
        "vit-s16, blocks.0, POSITIONS, false, 17"
    })
    void everyDetectorAgrees(String backbone, String layers, String kind, boolean whole, int opset) throws Exception {
        Path model = TinyDetector.write(
                folder.resolve("model.safetensors"), backbone, List.of(layers.split("\\+", -1)), kind, whole);
        Path onnx = export(model, opset);
        try (Detector libtorch = Detector.load(model);
                OpenDetector exported = OpenDetector.open(onnx, Request.of(EngineChoice.AUTO));
                OpenDetector inMemory = OpenDetector.open(model, Request.of(EngineChoice.AUTO))) {
            assertThat(exported.card()).isEqualTo(libtorch.card());
            assertThat(exported.kind()).isEqualTo(kind);
            assertThat(exported.backbone()).isEqualTo(backbone);
            assertThat(inMemory.engineName()).isEqualTo("onnx");
            for (Image image : List.of(TinyDetector.image(30), TinyDetector.defective(3))) {
                Inspection expected = libtorch.inspect(image);
                for (OpenDetector opened : List.of(exported, inMemory)) {
                    Inspection found = opened.detector().inspect(image);
                    assertThat(found.score()).isCloseTo(expected.score(), within(1e-4 * expected.score()));
                    assertThat(found.isAnomalous()).isEqualTo(expected.isAnomalous());
                    assertThat(found.map().rows()).isEqualTo(expected.map().rows());
                    assertThat(found.map().values())
                            .containsExactly(expected.map().values(), within((float)
                                    (1e-4 * expected.map().max())));
                }
            }
        }
    }

    @Test
    void outputsOfBatchHaveScoreMapPValueAndThreshold() throws Exception {
        Path model = TinyDetector.write(folder.resolve("model.safetensors"));
        Path onnx = export(model, ExportedFile.DEFAULT_OPSET);
        List<Image> images = List.of(TinyDetector.image(30), TinyDetector.defective(3), TinyDetector.image(31));
        try (Detector detector = Detector.load(model);
                OrtSession session = OnnxEngine.session(onnx, 1)) {
            var card = detector.card();
            FloatBuffer pixels = FloatBuffer.allocate(3 * 3 * card.height() * card.width());
            images.forEach(
                    image -> pixels.put(card.preprocessing().apply(Resize.to(image, card.width(), card.height()))));
            long[] sizes = {3, 3, card.height(), card.width()};
            try (OnnxTensor input = OnnxTensor.createTensor(OnnxEngine.environment(), pixels.flip(), sizes);
                    OrtSession.Result result = session.run(Map.of("images", input))) {
                float[] scores = (float[]) result.get("score").orElseThrow().getValue();
                float[] pValues = (float[]) result.get("p_value").orElseThrow().getValue();
                float[] threshold =
                        (float[]) result.get("threshold").orElseThrow().getValue();
                float[][][] maps = (float[][][]) result.get("map").orElseThrow().getValue();
                assertThat(threshold[0]).isCloseTo((float) card.threshold(), within(1e-6f));
                for (int i = 0; i < 3; i++) {
                    Inspection expected = detector.inspect(images.get(i));
                    assertThat(scores[i])
                            .isCloseTo((float) expected.score(), within((float) (1e-4 * expected.score())));
                    assertThat(pValues[i]).isCloseTo((float) expected.pValue(), within(1e-6f));
                    assertThat(scores[i] > threshold[0]).isEqualTo(expected.isAnomalous());
                    assertThat(maps[i])
                            .hasDimensions(expected.map().rows(), expected.map().columns());
                }
                assertThat(pValues[1]).isEqualTo(1f / (TinyDetector.IMAGES + 1));
            }
        }
    }

    @Test
    void commandComparesAndWrites() throws IOException {
        Path model = TinyDetector.write(folder.resolve("model.safetensors"));
        Path out = folder.resolve("detector.onnx");
        Run run = Run.of("export", model, out).done();
        assertThat(run.out()).contains("4 synthetic images");
        assertThat(OpenDetector.isDetector(out)).isTrue();
        assertThat(OpenDetector.isDetector(model)).isTrue();
        Run again = Run.of("export", out, folder.resolve("second.onnx"));
        assertThat(again.code()).isEqualTo(ExitCode.USAGE);
    }

    @Test
    void rejectsOtherKindOfFile() throws IOException {
        Path classifier = TinyModel.write(folder.resolve("classifier.safetensors"), "center:32");
        Path onnx = folder.resolve("classifier.onnx");
        Run.of("export", classifier, onnx, "--no-check").done();
        assertThat(OpenDetector.isDetector(onnx)).isFalse();
        assertThatThrownBy(() -> OnnxDetector.open(onnx, 1)).isInstanceOf(ModelFileException.class);
        Path detector = export(TinyDetector.write(folder.resolve("model.safetensors")), 17);
        assertThatThrownBy(() -> OpenModel.header(detector)).isInstanceOf(ModelFileException.class);
        byte[] cut = Files.readAllBytes(detector);
        Files.write(detector, Arrays.copyOf(cut, cut.length / 2));
        assertThatThrownBy(() -> OpenDetector.open(detector, Request.of(EngineChoice.AUTO)))
                .isInstanceOf(ModelFileException.class);
    }
}
