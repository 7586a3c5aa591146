package org.gramian.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.assertRejected;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.onnx.OnnxFile;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.crop.Preprocessing;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.testing.TinyModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Model files of a backbone that is not built in. */
@Timeout(60)
final class ImportedModelTest {
    @TempDir
    Path folder;

    @Test
    void theFileDefinesTheBackbone() throws IOException {
        Path file = written();
        try (ModelFile.Stored stored = ModelFile.read(file, Device.CPU)) {
            Backbone backbone = stored.model().backbone();
            assertThat(backbone).hasToString("small:relu_1");
            assertThat(backbone.definition()).isPresent();
            Path again = folder.resolve("again.safetensors");
            ModelFile.write(again, stored.model(), stored.card());
            assertThat(again).hasSameBinaryContentAs(file);
        }
    }

    /** Writes a model on the network that {@code scripts/golden/onnx_backbone.py} writes. */
    private Path written() throws IOException {
        Path network = folder.resolve("small-backbone.onnx");
        try (InputStream content =
                Objects.requireNonNull(getClass().getResourceAsStream("/models/small-backbone.onnx"))) {
            Files.copy(content, network);
        }
        Path file = folder.resolve("model.safetensors");
        SplittableRandom random = new SplittableRandom(5);
        try (Arena arena = Arena.ofConfined()) {
            OnnxFile onnx = OnnxFile.read(network, arena);
            Backbone backbone = Backbone.of("small", onnx.graph().definition(), Preprocessing.TORCHVISION)
                    .cutAt("relu_1");
            ParameterSet weights = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
            Head head = new Head(Pooling.parse("covariance/triu"), 3, false);
            try (Model model = Model.begin(backbone, weights, head, random, Device.CPU)) {
                ModelFile.write(file, model, TinyModel.card("center:32"));
            }
        }
        return file;
    }

    /** Replaces bytes of a definition by as many others. */
    private static UnaryOperator<String> bytes(String from, String to) {
        return text -> {
            String bytes = new String(Base64.getDecoder().decode(text), StandardCharsets.ISO_8859_1);
            return Base64.getEncoder().encodeToString(bytes.replace(from, to).getBytes(StandardCharsets.ISO_8859_1));
        };
    }

    static Stream<Arguments> definitions() {
        return Stream.of(
                arguments("empty", (UnaryOperator<String>) _ -> "", ""),
                arguments("another version", (UnaryOperator<String>) _ -> "{\"nodes\": []}", "another version"),
                arguments("cut", (UnaryOperator<String>) text -> text.substring(0, text.length() / 2), ""),
                arguments("long", (UnaryOperator<String>) _ -> " ".repeat(8_000_001), "8000001"),
                arguments("other weight", bytes("\u0004\u000c\b\u0003\u0003", "\u0004\u007f\b\u0003\u0003"), ""),
                arguments("other operator", bytes("\u0004Conv", "\u0004Loop"), "Loop"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("definitions")
    void aHostileDefinitionIsRejected(String kind, UnaryOperator<String> change, String message) throws IOException {
        Path file = written();
        rewrite(
                file,
                metadata -> metadata.computeIfPresent("network", (_, text) -> {
                    String changed = change.apply(text);
                    assertThat(changed).as(kind).isNotEqualTo(text);
                    return changed;
                }));
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> ModelFile.header(file))
                .withMessageStartingWith(file + ": ")
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(2000))
                .withMessageContaining(message);
    }

    @Test
    void mutatedDefinitionsEndInAModelOrASentence() throws IOException {
        Path file = written();
        String sound;
        try (Arena arena = Arena.ofConfined()) {
            sound = Objects.requireNonNull(
                    Safetensors.read(file, arena).metadata().get("network"));
        }
        Random random = new Random(3);
        for (int i = 0; i < 300; i++) {
            StringBuilder changed = new StringBuilder(sound);
            for (int k = random.nextInt(3); k >= 0; k--) {
                changed.setCharAt(random.nextInt(sound.length()), (char) ('!' + random.nextInt(94)));
            }
            try {
                Backbone.of("other", changed.toString(), Preprocessing.TORCHVISION)
                        .features(32, 32);
            } catch (IllegalArgumentException | ArithmeticException refused) {
                assertThat(refused).hasMessageNotContaining("\n");
            }
        }
    }

    @Test
    void aBuiltInNameHasNoOtherDefinition() throws IOException {
        Path file = written();
        rewrite(file, metadata -> metadata.put("backbone", "vgg16"));
        assertRejected(ModelFileException.class, () -> ModelFile.header(file), "vgg16", "built-in");
        rewrite(file, metadata -> {
            metadata.put("backbone", "small");
            metadata.remove("network");
        });
        assertRejected(ModelFileException.class, () -> ModelFile.header(file), "unknown backbone 'small'");
    }

    @Test
    void filesThatDefineNoBackboneAreNamed() throws IOException {
        WeightStore store = new WeightStore(folder);
        Safetensors.write(folder.resolve("plain.safetensors"), Map.of(), Map.of());
        Safetensors.write(folder.resolve("broken.safetensors"), Map.of(), Map.of("network", "{", "architecture", "a"));
        Files.writeString(folder.resolve("text.safetensors"), "hello");
        for (String name : new String[] {"plain", "broken", "text"}) {
            assertRejected(() -> store.backbone(name), name + ".safetensors");
        }
        for (String name : new String[] {"../plain", "absent.safetensors", "x.onnx"}) {
            assertRejected(() -> store.backbone(name));
        }
        assertRejected(() -> store.backbone("plian"), "unknown backbone 'plian'", "vgg16");
    }

    private static void rewrite(Path file, Consumer<Map<String, String>> change) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            TensorFile content = Safetensors.read(file, arena);
            Map<String, String> metadata = new HashMap<>(content.metadata());
            change.accept(metadata);
            Safetensors.writeChecked(file, new HashMap<>(content.tensors()), metadata);
        }
    }
}
