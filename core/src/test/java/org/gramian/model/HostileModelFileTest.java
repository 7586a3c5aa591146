package org.gramian.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
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
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
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
            Safetensors.write(path, changedTensors, changedMetadata);
        }
    }

    private void assertRejected(String message) {
        long before = Tensor.live();
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> ModelFile.read(path, Device.CPU).close())
                .withMessageStartingWith(path + ": ")
                .withMessageContaining(message);
        assertThat(Tensor.live()).isEqualTo(before);
    }

    static Stream<Arguments> metadata() {
        return Stream.of(
                arguments("format", "pt", "found a safetensors file of the format 'pt'; if it holds weights"),
                arguments("format", null, "found a safetensors file that states no format"),
                arguments("version", "2", "version 2, this program reads up to 1; update Gramian"),
                arguments("version", "999999999", "update Gramian"),
                arguments("version", "1.5", "a whole number from 1 on, found '1.5'"),
                arguments("version", "99999999999", "found '99999999999'"),
                arguments("version", null, "found ''"),
                arguments("backbone", "filtres", "there is no backbone 'filtres' (did you mean 'filters'?)"),
                arguments("backbone", "vgg16", "vgg16 has no layer 'bank'"),
                arguments("layer", "top", "filters has no layer 'top'"),
                arguments("layer", null, "expected the metadata 'layer', found none"),
                arguments("pooling", "rbff/triu", "there is no stage 'rbff'"),
                arguments("pooling", "conv:4/rbf/spd:9/relu/triu/root/l2", "spd:9"),
                arguments("pooling", "x".repeat(100_000), "at most 1000 characters long, found 100000"),
                arguments("pooling", "conv:5/rbf/spd:3/relu/triu/root/l2", "'head.pooling.conv.weight' to be F32[5, "),
                arguments("pooling", "average", "besides; the file does not fit what it says of itself"),
                arguments("pooling", "conv:999999/rbf/spd:3/relu/flat/root/l2", "to be F32[999999, "),
                arguments("pooling", "conv:999999999/rbf/triu", "between 1 and 999999, found '999999999'"),
                arguments("normalized", "maybe", "expected true or false as normalized, found 'maybe'"),
                arguments("normalized", "true", "without 'head.norm.weight'"),
                arguments("classes", "[\"a\",\"b\"]", "each of the 3 classes of the classifier, found 2 names"),
                arguments("classes", "[\"a\",\"b\",\"a\"]", "a name of its own, found 'a' twice"),
                arguments("classes", "[\"a\",\"b\",\"\"]", "every class has a name, found an empty one"),
                arguments("classes", "[]", "at least 2 classes apart, found 0"),
                arguments("classes", "[1,2,3]", "expected texts as classes, found '1'"),
                arguments("classes", "[\"a\",null,\"c\"]", "expected texts as classes, found 'null'"),
                arguments("classes", "{}", "expected a list of texts as classes, found '{}'"),
                arguments("classes", "", "expected a list of texts"),
                arguments("classes", "[\"a\"", "expected a list of texts in JSON as classes, found: Unexpected end"),
                arguments("classes", "[".repeat(100_000), "in JSON as classes, found: "),
                arguments("classes", "[\"a\",\"b\",\"c\"] []", "in JSON as classes, found: "),
                arguments("preprocessing", "sepia", "sepia"),
                arguments("crops", "middle", "found 'middle'"),
                arguments("crops", "center:9999", "found 9999"),
                arguments("temperature", "warm", "expected a number as temperature, found 'warm'"),
                arguments("temperature", "0", "positive number, found 0.0"),
                arguments("temperature", "NaN", "positive number, found NaN"),
                arguments("origin", "{\"a\":1}", "expected texts as origin, found '1'"),
                arguments("origin", "{\"a\":\"1\",\"a\":\"2\"}", "in JSON as origin, found: Duplicate"),
                arguments("metrics", "{\"a\":{}}", "expected numbers as metrics, found '{}'"),
                arguments("metrics", "{\"a\":\"b\"}", "expected a number as metrics, found 'b'"),
                arguments("dropout", "0.5", "found 'dropout' besides"));
    }

    @ParameterizedTest(name = "{0}: {2}")
    @MethodSource("metadata")
    void metadataThatDoNotFitAreNamed(String key, @Nullable String text, String message) throws IOException {
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
                        "'head.classifier.weight' to be F32[3, 6], found F32[3, 7]"),
                arguments("head.classifier.weight", zeros(DType.F64, 3, 6), "found F64[3, 6]"),
                arguments("head.classifier.bias", zeros(DType.F32, 4), "each of the 4 classes"),
                arguments("head.classifier.bias", zeros(DType.F32, 3, 1), "found F32[3, 1]"),
                arguments("head.dropout", zeros(DType.F32, 1), "with 'head.dropout' besides"),
                arguments("classifier.bias", zeros(DType.F32, 3), "with 'classifier.bias' besides"));
    }

    @ParameterizedTest(name = "{2}")
    @MethodSource("tensors")
    void tensorsThatDoNotFitAreNamed(String name, StoredTensor tensor, String message) throws IOException {
        rewrite(tensors -> tensors.put(name, tensor), _ -> {});
        assertRejected(message);
        assertThatExceptionOfType(ModelFileException.class).isThrownBy(() -> ModelFile.header(path));
    }

    @Test
    void aMissingTensorIsNamed() throws IOException {
        rewrite(tensors -> tensors.remove("head.classifier.bias"), _ -> {});
        assertRejected("without 'head.classifier.bias'");
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
        assertRejected("finite numbers in 'head.classifier.weight', found " + value + " at place 5");
    }

    @RandomTest
    void aFileCutShortIsRejectedWhereverItEnds(Seed seed) throws IOException {
        Files.write(path, Arrays.copyOf(sound, seed.random().nextInt(sound.length)));
        assertRejected("cannot be read as a model: ");
        assertRejected("'gramian train' wrote, copied as a whole");
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

    @Test
    void whatIsNoTensorFileAtAllIsRejected() throws IOException {
        Files.writeString(path, "I am a picture");
        assertRejected("is this a safetensors file? A model is a file that");
        Files.write(path, new byte[0]);
        assertRejected("cannot be read as a model: ");
        Files.delete(path);
        assertRejected(path + ": there is no such file; expected a model");
        Files.createDirectory(path);
        assertRejected("cannot be read as a model: ");
    }

    @Test
    void signsThatATerminalWouldObeyAreNotShown() throws IOException {
        rewrite(_ -> {}, metadata -> metadata.put("layer", "\u001b[31mred"));
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> ModelFile.header(path))
                .satisfies(told -> assertThat(told.getMessage()).doesNotContain("\u001b"));
    }
}
