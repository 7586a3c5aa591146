package org.gramian.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.testing.Facts;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.testing.TinyModel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every damaged or foreign file is one sentence that names the file, what was expected and what was found. */
@Timeout(60)
final class HostileModelFileTest {
    private static final int FLIPS = Boolean.getBoolean("gramian.full") ? 50 : 2;
    private static byte[] sound = {};

    @TempDir
    Path folder;

    private Path path = Path.of("");

    @BeforeAll
    static void makeSound(@TempDir Path elsewhere) throws IOException {
        Path file = elsewhere.resolve("sound.safetensors");
        try (Model model = TinyModel.of(1)) {
            ModelFile.write(file, model, TinyModel.card("center"));
        }
        sound = Files.readAllBytes(file);
    }

    @BeforeEach
    void writeSound() throws IOException {
        path = Files.write(folder.resolve("model.safetensors"), sound);
    }

    private void rewrite(Consumer<Map<String, StoredTensor>> tensors, Consumer<Map<String, String>> metadata)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            TensorFile file = Safetensors.read(path, arena);
            Map<String, StoredTensor> changedTensors = new HashMap<>(file.tensors());
            Map<String, String> changedMetadata = new HashMap<>(file.metadata());
            tensors.accept(changedTensors);
            metadata.accept(changedMetadata);
            Safetensors.writeChecked(path, changedTensors, changedMetadata);
        }
    }

    private void assertRejected(Facts message) {
        long before = Tensor.live();
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> ModelFile.read(path, Device.CPU).close())
                .withMessageStartingWith(path + ": ")
                .has(message);
        assertThat(Tensor.live()).isEqualTo(before);
    }

    static Stream<Arguments> metadata() {
        return Stream.of(
                arguments("format", "pt", facts("'pt'")),
                arguments("format", null, facts("format")),
                arguments("version", "2", facts("2", "1")),
                arguments("version", "999999999", facts("999999999", "1")),
                arguments("version", "1.5", facts("1", "'1.5'")),
                arguments("version", "99999999999", facts("'99999999999'")),
                arguments("version", null, facts("version", "''")),
                arguments("backbone", "filtres", facts("'filtres'", "'filters'")),
                arguments("backbone", "vgg16", facts("vgg16", "'bank'")),
                arguments("layer", "top", facts("filters", "'top'")),
                arguments("layer", null, facts("'layer'")),
                arguments("pooling", "rbff/triu", facts("'rbff'")),
                arguments("pooling", "conv:4/rbf/spd:9/relu/triu/root/l2", facts("spd:9")),
                arguments("pooling", "x".repeat(100_000), facts("1000", "100000")),
                arguments(
                        "pooling",
                        "conv:5/rbf/spd:3/relu/triu/root/l2",
                        facts("'head.pooling.conv.weight'", "F32[5, ")),
                arguments("pooling", "average", facts("'head.pooling.conv.weight'")),
                arguments("pooling", "conv:999999/rbf/spd:3/relu/flat/root/l2", facts("F32[999999, ")),
                arguments("pooling", "conv:999999999/rbf/triu", facts("1", "999999", "'999999999'")),
                arguments("normalized", "maybe", facts("true", "false", "normalized", "'maybe'")),
                arguments("normalized", "true", facts("'head.norm.weight'")),
                arguments("classes", "[\"a\",\"b\"]", facts("3", "2")),
                arguments("classes", "[\"a\",\"b\",\"a\"]", facts("'a'")),
                arguments("classes", "[\"a\",\"b\",\"\"]", facts("class")),
                arguments("classes", "[]", facts("2", "0")),
                arguments("classes", "[1,2,3]", facts("classes", "'[1,2,3]'")),
                arguments("classes", "[\"a\",null,\"c\"]", facts("classes", "null")),
                arguments("classes", "{}", facts("classes", "'{}'")),
                arguments("classes", "", facts("classes")),
                arguments("classes", "[\"a\"", facts("JSON", "classes")),
                arguments("classes", "[".repeat(100_000), facts("JSON", "classes")),
                arguments("classes", "[\"a\",\"b\",\"c\"] []", facts("JSON", "classes")),
                arguments("preprocessing", "sepia", facts("sepia")),
                arguments("crops", "middle", facts("'middle'")),
                arguments("crops", "center:9999", facts("9999")),
                arguments("crops", "ten:4096", facts("50000000", "167772160")),
                arguments("temperature", "warm", facts("temperature", "'warm'")),
                arguments("temperature", "0", facts("0.0")),
                arguments("temperature", "1e-320", facts("1.0E-320")),
                arguments("temperature", "NaN", facts("NaN")),
                arguments("origin", "{\"a\":1}", facts("origin", "'a'")),
                arguments("origin", "{\"a\":\"1\",\"a\":\"2\"}", facts("JSON", "origin")),
                arguments("metrics", "{\"a\":{}}", facts("metrics", "'a'")),
                arguments("metrics", "{\"a\":\"b\"}", facts("metrics", "'a'", "b")),
                arguments("dropout", "0.5", facts("'dropout'")));
    }

    @ParameterizedTest(name = "{0}: {2}")
    @MethodSource("metadata")
    void metadataThatDoNotFitAreNamed(String key, @Nullable String text, Facts message) throws IOException {
        rewrite(_ -> {}, metadata -> {
            if (text == null) {
                metadata.remove(key);
            } else {
                metadata.put(key, text);
            }
        });
        assertRejected(message);
        assertThatExceptionOfType(ModelFileException.class).isThrownBy(() -> ModelFile.header(path));
    }

    private static StoredTensor zeros(DType type, long... sizes) {
        Shape shape = Shape.of(sizes);
        byte[] bytes = new byte[Math.toIntExact(shape.elements() * type.bytes())];
        return new StoredTensor(type, shape, MemorySegment.ofArray(bytes));
    }

    static Stream<Arguments> tensors() {
        return Stream.of(
                arguments(
                        "head.classifier.weight",
                        zeros(DType.F32, 3, 7),
                        facts("'head.classifier.weight'", "F32[3, 6]", "F32[3, 7]")),
                arguments("head.classifier.weight", zeros(DType.F64, 3, 6), facts("F64[3, 6]")),
                arguments("head.classifier.bias", zeros(DType.F32, 4), facts("4")),
                arguments("head.classifier.bias", zeros(DType.F32, 3, 1), facts("F32[3, 1]")),
                arguments("head.dropout", zeros(DType.F32, 1), facts("'head.dropout'")),
                arguments("classifier.bias", zeros(DType.F32, 3), facts("'classifier.bias'")));
    }

    @ParameterizedTest(name = "{2}")
    @MethodSource("tensors")
    void tensorsThatDoNotFitAreNamed(String name, StoredTensor tensor, Facts message) throws IOException {
        rewrite(tensors -> tensors.put(name, tensor), _ -> {});
        assertRejected(message);
        assertThatExceptionOfType(ModelFileException.class).isThrownBy(() -> ModelFile.header(path));
    }

    @Test
    void aMissingTensorIsNamed() throws IOException {
        rewrite(tensors -> tensors.remove("head.classifier.bias"), _ -> {});
        assertRejected(facts("'head.classifier.bias'"));
    }

    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void aNumberThatIsNotFiniteIsNamed(float value) throws IOException {
        rewrite(
                tensors -> {
                    StoredTensor weight = zeros(DType.F32, 3, 6);
                    weight.data().set(ValueLayout.JAVA_FLOAT_UNALIGNED, 4 * 5, value);
                    tensors.put("head.classifier.weight", weight);
                },
                _ -> {});
        assertRejected(facts("'head.classifier.weight'", value, "5"));
    }

    @RandomTest
    void aFileCutShortIsRejectedWhereverItEnds(Seed seed) throws IOException {
        Files.write(path, Arrays.copyOf(sound, seed.random().nextInt(sound.length)));
        assertRejected(facts("gramian train"));
    }

    @RandomTest(times = 60)
    void damagedBytesGiveAModelOrAModelFileException(Seed seed) throws IOException {
        SplittableRandom random = seed.random();
        byte[] bytes = sound.clone();
        int header = 2000;
        for (int i = 0; i < random.nextInt(1, 4); i++) {
            bytes[random.nextInt(header)] = (byte) random.nextInt(256);
        }
        Files.write(path, bytes);
        try (ModelFile.Stored stored = ModelFile.read(path, Device.CPU)) {
            assertThat(stored.card().classes()).hasSize(3);
        } catch (ModelFileException told) {
            assertThat(told).hasMessageStartingWith(path + ": ");
        }
    }

    /** Without checksums 406 of 600 flipped bits of weights changed a prediction silently, and flips of the header renamed classes. */
    @RandomTest(times = 100)
    void everyFlippedBitIsRejected(Seed seed) throws IOException {
        for (int i = 0; i < FLIPS; i++) {
            byte[] bytes = sound.clone();
            int bit = seed.random().nextInt(8 * bytes.length);
            bytes[bit / 8] ^= (byte) (1 << bit % 8);
            Files.write(path, bytes);
            assertThatExceptionOfType(ModelFileException.class)
                    .as("bit %d", bit)
                    .isThrownBy(() -> ModelFile.read(path, Device.CPU).close())
                    .withMessageStartingWith(path + ": ");
        }
    }

    @Test
    void whatIsNoTensorFileAtAllIsRejected() throws IOException {
        Files.writeString(path, "I am a picture");
        assertRejected(facts("safetensors", "gramian train"));
        Files.write(path, new byte[0]);
        assertRejected(facts("gramian train"));
        Files.delete(path);
        assertRejected(facts("model"));
        Files.createDirectory(path);
        assertRejected(facts("model"));
    }

    @Test
    void signsThatATerminalWouldObeyAreNotShown() throws IOException {
        rewrite(_ -> {}, metadata -> metadata.put("layer", "\u001b[31mred"));
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> ModelFile.header(path))
                .satisfies(told -> assertThat(told.getMessage()).doesNotContain("\u001b"));
    }
}
