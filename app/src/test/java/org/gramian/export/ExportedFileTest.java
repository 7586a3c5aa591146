package org.gramian.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.basis.Protobuf.Writer;
import org.gramian.export.graph.NotExpressibleException;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.Logits;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelFileException;
import org.gramian.model.ModelHeader;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExportedFileTest {
    private static final String POOLING = "conv:4/rbf/spd:3/relu/triu/root/l2";
    private static final int GRAPH = 7;
    private static final int METADATA = 14;
    private static final int FUNCTION = 25;

    @TempDir
    private Path folder = Path.of("");

    private Path file = Path.of("");

    @BeforeEach
    void write() throws IOException {
        file = folder.resolve("model.onnx");
        try (SmallModel small = SmallModel.of(POOLING, 32)) {
            small.write(file, ExportedFile.DEFAULT_OPSET);
        }
    }

    @Test
    void readsCardBack() throws IOException {
        try (SmallModel small = SmallModel.of(POOLING, 32)) {
            assertThat(ExportedFile.header(file)).isEqualTo(ModelHeader.of(small.model(), small.card()));
        }
    }

    @Test
    void classifierLoadsRunFolderModelFileAndOnnx(@TempDir Path run) throws IOException {
        Path model = run.resolve(ModelFile.NAME);
        try (SmallModel small = SmallModel.of(POOLING, 32)) {
            ModelFile.write(model, small.model(), small.card());
        }
        for (Path loaded : List.of(run, model, file)) {
            try (Classifier classifier = Classifier.load(loaded)) {
                assertThat(classifier.engine()).as(loaded.toString()).isInstanceOf(OnnxEngine.class);
                assertThat(classifier
                                .predict(new BufferedImage(40, 40, BufferedImage.TYPE_INT_RGB))
                                .ranking())
                        .hasSameSizeAs(classifier.classes());
            }
        }
    }

    @Test
    void equalModelsGiveEqualBytes() throws IOException {
        byte[] first = Files.readAllBytes(file);
        write();
        assertThat(Files.readAllBytes(file)).isEqualTo(first);
    }

    @Test
    void failedInspectionKeepsPreviousFile() throws IOException {
        byte[] former = Files.readAllBytes(file);
        try (SmallModel small = SmallModel.of("average", 32)) {
            var content = ExportedFile.content(small.model(), small.card(), ExportedFile.DEFAULT_OPSET);
            assertThatThrownBy(() -> ExportedFile.write(file, content, draft -> {
                        assertThat(ExportedFile.header(draft).head().pooling().text())
                                .isEqualTo("average");
                        throw new IOException("no");
                    }))
                    .hasMessage("no");
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(former);
        try (Stream<Path> all = Files.list(folder)) {
            assertThat(all).containsExactly(file);
        }
    }

    @Test
    void rejectsUnsupportedOperatorSets() {
        try (SmallModel small = SmallModel.of("average", 32)) {
            for (int opset : List.of(12, 22)) {
                assertThatThrownBy(() -> ExportedFile.content(small.model(), small.card(), opset))
                        .isInstanceOf(IllegalArgumentException.class)
                        .has(facts("13", "21"))
                        .hasMessageContaining(Integer.toString(opset));
            }
        }
    }

    @Test
    void rejectsTruncatedFiles() throws IOException {
        byte[] whole = Files.readAllBytes(file);
        for (int length = 0; length < whole.length; length += 1 + whole.length / 97) {
            Files.write(file, Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> OnnxEngine.open(file, 1))
                    .as("%d of %d bytes", length, whole.length)
                    .isInstanceOf(ModelFileException.class)
                    .hasMessageStartingWith(file.toString());
        }
    }

    @Test
    void readsOrRejectsMutatedFiles() throws IOException {
        byte[] whole = Files.readAllBytes(file);
        SplittableRandom random = new SplittableRandom(9);
        int refused = 0;
        for (int i = 0; i < (Boolean.getBoolean("gramian.full") ? 2000 : 200); i++) {
            byte[] changed = whole.clone();
            for (int k = 0; k < 3; k++) {
                changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
            }
            Files.write(file, changed);
            try {
                ExportedFile.header(file);
            } catch (ModelFileException said) {
                refused++;
                assertThat(said.getMessage()).startsWith(file.toString());
            }
        }
        assertThat(refused).isPositive();
    }

    /** Protocol buffers may be continued: what is appended becomes part of the same message. */
    private void append(int field, Writer content) throws IOException {
        Files.write(file, new Writer().message(field, content).toBytes(), StandardOpenOption.APPEND);
    }

    private void requireRefused(Facts words) {
        assertThatThrownBy(() -> OnnxEngine.open(file, 1))
                .isInstanceOf(ModelFileException.class)
                .hasMessageStartingWith(file.toString())
                .has(words);
    }

    static Stream<Arguments> foreignParts() {
        Writer loop = new Writer().message(1, new Writer().text(4, "Loop"));
        Writer custom = new Writer().message(1, new Writer().text(4, "Relu").text(7, "com.example"));
        Writer location = new Writer().text(1, "location").text(2, "a/b");
        Writer external = new Writer().message(5, new Writer().message(13, location));
        Writer twice = new Writer().text(1, "gramian.classes").text(2, "[]");
        return Stream.of(
                arguments("Loop", GRAPH, loop),
                arguments("com.example:Relu", GRAPH, custom),
                arguments("external data", GRAPH, external),
                arguments("function", FUNCTION, new Writer()),
                arguments("gramian.classes", METADATA, twice));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("foreignParts")
    void rejectsForeignParts(String name, int field, Writer content) throws IOException {
        append(field, content);
        requireRefused(facts(name));
    }

    @Test
    void rejectsTooManyMetadata() throws IOException {
        for (int i = 0; i < 300; i++) {
            append(METADATA, new Writer().text(1, "k" + i));
        }
        requireRefused(facts("256"));
    }

    @Test
    void rejectsMetadataOfAnotherModel() throws IOException {
        ModelHeader header = ExportedFile.header(file);
        byte[] whole = Files.readAllBytes(file);
        String text = new String(whole, StandardCharsets.ISO_8859_1);
        String changed = text.replace("conv:4/rbf/spd:3/relu", "conv:4/rbf/spd:2/relu");
        assertThat(changed).isNotEqualTo(text);
        Files.write(file, changed.getBytes(StandardCharsets.ISO_8859_1));
        assertThat(ExportedFile.header(file).descriptorSize()).isLessThan(header.descriptorSize());
        requireRefused(facts("descriptors"));
    }

    @Test
    void rejectsOtherFiles() throws IOException {
        Files.write(file, new byte[0]);
        requireRefused(facts("ONNX"));
        Files.writeString(file, "no model at all");
        requireRefused(facts("ONNX"));
        Files.delete(file);
        requireRefused(facts(file));
    }

    @Test
    void rejectsOtherCropSizesAndClosedEngines() throws IOException {
        OnnxEngine engine = OnnxEngine.open(file, 1);
        float[] crop = new float[3 * 40 * 40];
        var memory = MemorySegment.ofArray(crop);
        assertThatThrownBy(() -> engine.compute(memory, Shape.of(1, 3, 40, 40), Engine.Rows.SCORES))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[n, 3, 32, 32]");
        assertThat(engine.compute(memory, Shape.of(1, 3, 32, 32), Engine.Rows.SCORES)[0])
                .hasSize(3);
        engine.close();
        engine.close();
        assertThatThrownBy(() -> engine.compute(memory, Shape.of(1, 3, 32, 32), Engine.Rows.SCORES))
                .isInstanceOf(IllegalStateException.class);
    }

    /** Its telemetry would keep a log in the temporary folder and a database in the home folder open. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void onnxRuntimeCollectsNoUsageData() throws IOException {
        assertThat(OnnxEngine.version()).isNotEmpty();
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            assertThat(open.map(ExportedFileTest::target))
                    .noneMatch(file -> file.contains("mat-debug-") || file.contains("onnxruntime.db"));
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException _) {
            return ""; // closed meanwhile
        }
    }

    /** Rows of several kinds that are computed together are those that are computed alone. */
    private static void requireOnePassAgrees(Engine engine, MemorySegment crops, Shape shape) {
        Map<Engine.Rows, float[][]> together = engine.compute(crops, shape, EnumSet.allOf(Engine.Rows.class));
        assertThat(together).containsOnlyKeys(Engine.Rows.values());
        together.forEach((kind, rows) -> assertThat(rows).isDeepEqualTo(engine.compute(crops, shape, kind)));
    }

    /** For a model that must run without libtorch. */
    private static OpenModel.Request withoutLibtorch(OpenModel.EngineChoice engine) {
        return new OpenModel.Request(engine, () -> Device.CPU, ExportedFileTest::noDevice, 1, 0, false);
    }

    private static Device noDevice() {
        throw new AssertionError("libtorch is not needed");
    }

    @ParameterizedTest
    @ValueSource(strings = {POOLING, "average", "conv:8/covariance/isqrt:5/triu"})
    void runsModelsOnCpuInOnnxRuntimeAsInLibtorch(String pooling) throws IOException {
        Path trained = folder.resolve("model.safetensors");
        try (SmallModel small = SmallModel.of(pooling, 32)) {
            ModelFile.write(trained, small.model(), small.card());
            small.write(file, ExportedFile.DEFAULT_OPSET);
            MemorySegment crops = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, small.crops(2));
            try (OpenModel torch = OpenModel.open(trained, OpenModel.Request.of(OpenModel.EngineChoice.LIBTORCH));
                    OpenModel exported = OpenModel.open(file, withoutLibtorch(OpenModel.EngineChoice.AUTO));
                    OpenModel auto = OpenModel.open(trained, withoutLibtorch(OpenModel.EngineChoice.AUTO));
                    OpenModel onnx = OpenModel.open(trained, withoutLibtorch(OpenModel.EngineChoice.ONNX))) {
                assertThat(torch.engineName()).isEqualTo("libtorch");
                requireOnePassAgrees(torch.classifier().engine(), crops, small.shape(2));
                double[][] expected = probabilities(torch, crops, small.shape(2));
                for (OpenModel other : List.of(exported, auto, onnx)) {
                    requireOnePassAgrees(other.classifier().engine(), crops, small.shape(2));
                    assertThat(other.engineName()).isEqualTo("onnx");
                    assertThat(other.header()).isEqualTo(torch.header());
                    assertThat(other.gradients()).isEmpty();
                    requireClose(probabilities(other, crops, small.shape(2)), expected);
                }
            }
        }
        assertThatThrownBy(() -> OpenModel.open(file, OpenModel.Request.of(OpenModel.EngineChoice.LIBTORCH)))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("libtorch", "ONNX"));
    }

    private static double[][] probabilities(OpenModel model, MemorySegment crops, Shape shape) {
        float[][] scores = model.classifier().engine().compute(crops, shape, Engine.Rows.SCORES);
        return Arrays.stream(scores)
                .map(row -> Logits.ofCrops(new float[][] {row})
                        .probabilities(model.card().temperature()))
                .toArray(double[][]::new);
    }

    private static void requireClose(double[][] found, double[][] expected) {
        for (int i = 0; i < expected.length; i++) {
            assertThat(found[i]).containsExactly(expected[i], within(1e-5));
        }
    }

    @Test
    void runsCropsOfAnotherSize() throws IOException {
        Path trained = folder.resolve("model.safetensors");
        try (SmallModel small = SmallModel.of(POOLING, 32)) {
            ModelFile.write(trained, small.model(), small.card());
        }
        Shape shape = Shape.of(1, 3, 48, 48);
        MemorySegment crops = Arena.ofAuto().allocate(ValueLayout.JAVA_FLOAT, shape.elements());
        try (OpenModel torch = OpenModel.open(trained, OpenModel.Request.of(OpenModel.EngineChoice.LIBTORCH));
                OpenModel onnx = OpenModel.open(
                        trained, withoutLibtorch(OpenModel.EngineChoice.AUTO).withSide(48))) {
            requireClose(probabilities(onnx, crops, shape), probabilities(torch, crops, shape));
        }
        assertThatThrownBy(() -> OpenModel.open(
                        file, withoutLibtorch(OpenModel.EngineChoice.AUTO).withSide(48)))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("32", "48"));
    }

    @Test
    void runsPoolingsThatOnnxCannotExpressInLibtorch() throws IOException {
        Path trained = folder.resolve("model.safetensors");
        try (SmallModel small = SmallModel.of("conv:4/covariance/log/triu", 32)) {
            ModelFile.write(trained, small.model(), small.card());
        }
        try (OpenModel auto = OpenModel.open(trained, OpenModel.Request.of(OpenModel.EngineChoice.AUTO))) {
            assertThat(auto.engineName()).isEqualTo("libtorch");
        }
        assertThatThrownBy(() -> OpenModel.open(trained, OpenModel.Request.of(OpenModel.EngineChoice.ONNX)))
                .isInstanceOf(NotExpressibleException.class);
    }
}
