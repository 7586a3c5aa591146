package org.gramian.tensor.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class SafetensorsTest {
    @TempDir
    Path folder;

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("org.gramian.tensor.file.SampleTensors#seeds")
    void roundTripIsAligned(long seed) throws IOException {
        Random random = new Random(seed);
        Map<String, StoredTensor> tensors = SampleTensors.tensors(random);
        Map<String, String> metadata = SampleTensors.metadata(random);
        Path path = folder.resolve("file.safetensors");
        Safetensors.write(path, tensors, metadata);
        try (Arena arena = Arena.ofConfined()) {
            TensorFile read = Safetensors.read(path, arena);
            assertContent(read, tensors, metadata);
            for (StoredTensor found : read.tensors().values()) {
                assertThat(found.data().address() % found.type().bytes()).isZero();
            }
        }
        MemorySegment content = MemorySegment.ofArray(Files.readAllBytes(path));
        assertContent(Safetensors.read(path, content), tensors, metadata);
        for (long size : new long[] {0, 7, content.byteSize() - 1}) {
            assertRejected(TensorFileException.class, () -> Safetensors.read(path, content.asSlice(0, size)));
        }
    }

    private static void assertContent(TensorFile read, Map<String, StoredTensor> tensors, Map<String, String> metadata)
            throws TensorFileException {
        assertThat(read.metadata()).isEqualTo(metadata);
        assertThat(read.tensors().keySet()).isEqualTo(tensors.keySet());
        for (var expected : tensors.entrySet()) {
            StoredTensor found = read.get(expected.getKey());
            assertSame(found, expected.getValue());
            assertThat(found.data().isReadOnly()).isTrue();
        }
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("org.gramian.tensor.file.SampleTensors#seeds")
    void bytesDoNotDependOnTheOrderOfTheMaps(long seed) throws IOException {
        Random random = new Random(seed);
        Map<String, StoredTensor> tensors = SampleTensors.tensors(random);
        Map<String, String> metadata = SampleTensors.metadata(random);
        Path first = folder.resolve("first.safetensors");
        Path second = folder.resolve("second.safetensors");
        Safetensors.write(first, tensors, metadata);
        Safetensors.write(second, shuffled(tensors, random), shuffled(metadata, random));
        assertThat(second).hasSameBinaryContentAs(first);
        try (Arena arena = Arena.ofConfined()) {
            TensorFile read = Safetensors.read(second, arena);
            Safetensors.write(second, read.tensors(), read.metadata());
            assertThat(second).hasSameBinaryContentAs(first);
        }
    }

    /** The bytes are those of Python's safetensors 0.8 for the same tensors. */
    @Test
    void bytesEqualTheReferenceImplementation() throws IOException {
        Map<String, StoredTensor> tensors = new LinkedHashMap<>();
        tensors.put("z", new StoredTensor(DType.BOOL, Shape.of(2), MemorySegment.ofArray(new byte[] {1, 0})));
        tensors.put("a/b", new StoredTensor(DType.F32, Shape.of(3), MemorySegment.ofArray(new float[] {0, 1, 2})));
        tensors.put("é\t\"", new StoredTensor(DType.F64, Shape.of(), MemorySegment.ofArray(new double[] {2.5})));
        tensors.put("i", new StoredTensor(DType.I64, Shape.of(1, 1), MemorySegment.ofArray(new long[] {7})));
        tensors.put("h", new StoredTensor(DType.F16, Shape.of(0, 4), MemorySegment.ofArray(new byte[0])));
        tensors.put("u", new StoredTensor(DType.U8, Shape.of(1), MemorySegment.ofArray(new byte[] {-1})));
        tensors.put("\uD83D\uDE00", new StoredTensor(DType.F64, Shape.of(), MemorySegment.ofArray(new double[] {1})));
        tensors.put("\uFFFD", new StoredTensor(DType.F64, Shape.of(), MemorySegment.ofArray(new double[] {1})));
        Path path = folder.resolve("file.safetensors");
        Safetensors.write(path, tensors, Map.of("k", "v"));

        String header = """
            {"__metadata__":{"k":"v"},"i":{"dtype":"I64","shape":[1,1],"data_offsets":[0,8]},\
            "é\\t\\"":{"dtype":"F64","shape":[],"data_offsets":[8,16]},\
            "\uFFFD":{"dtype":"F64","shape":[],"data_offsets":[16,24]},\
            "\uD83D\uDE00":{"dtype":"F64","shape":[],"data_offsets":[24,32]},\
            "a/b":{"dtype":"F32","shape":[3],"data_offsets":[32,44]},\
            "h":{"dtype":"F16","shape":[0,4],"data_offsets":[44,44]},\
            "u":{"dtype":"U8","shape":[1],"data_offsets":[44,45]},\
            "z":{"dtype":"BOOL","shape":[2],"data_offsets":[45,47]}}   \s\
            """;
        String data = "\7\0\0\0\0\0\0\0" + "\0\0\0\0\0\0\4@" + "\0\0\0\0\0\0ð?" + "\0\0\0\0\0\0ð?"
                + "\0\0\0\0\0\0\u0080?\0\0\0@" + "ÿ" + "\1\0";
        byte[] expected = SampleTensors.safetensors(header, data.length());
        byte[] tail = data.getBytes(StandardCharsets.ISO_8859_1);
        System.arraycopy(tail, 0, expected, expected.length - tail.length, tail.length);
        assertThat(Files.readAllBytes(path)).isEqualTo(expected);
    }

    @Test
    void tensorsMayLieInAnyOrderAndUnaligned() throws IOException {
        Path path = folder.resolve("odd.safetensors");
        String header = """
            {"wide": {"shape": [1], "data_offsets": [1, 9], "dtype": "F64"},
             "byte": {"dtype": "U8", "shape": [], "data_offsets": [0, 1]}}\
            """;
        Files.write(path, SampleTensors.safetensors(header, 9));
        try (Arena arena = Arena.ofConfined()) {
            TensorFile read = Safetensors.read(path, arena);
            assertThat(read.tensors().keySet()).containsExactly("byte", "wide");
            assertThat(read.get("wide").data().byteSize()).isEqualTo(8);
        }
    }

    @Test
    void fileCanBeReplacedWhileItsTensorsAreInUse() throws IOException {
        Path path = folder.resolve("file.safetensors");
        StoredTensor old = SampleTensors.tensor(DType.F32, Shape.of(700, 700), new Random(1));
        Safetensors.write(path, Map.of("x", old), Map.of());
        try (Arena arena = Arena.ofConfined()) {
            StoredTensor mapped = Safetensors.read(path, arena).get("x");
            Safetensors.write(path, Map.of("y", mapped), Map.of());
            assertSame(mapped, old);
            assertSame(Safetensors.read(path, arena).get("y"), old);
        }
    }

    @Test
    void unreadableHeaderIsNotWritten() {
        Path path = folder.resolve("file.safetensors");
        StoredTensor tensor = SampleTensors.tensor(DType.U8, new Random(1));
        assertRejected(() -> Safetensors.write(path, Map.of("__metadata__", tensor), Map.of()), "__metadata__");
        for (String name : List.of("half \uD83D", "x".repeat(60_000))) {
            assertRejected(
                    TensorFileException.class,
                    () -> Safetensors.write(path, Map.of(name, tensor), Map.of()),
                    path.toString());
        }
        assertThat(folder).isEmptyDirectory();
    }

    private static void assertSame(StoredTensor found, StoredTensor expected) {
        assertThat(found.type()).isEqualTo(expected.type());
        assertThat(found.shape()).isEqualTo(expected.shape());
        assertThat(found.data().mismatch(expected.data())).isEqualTo(-1);
    }

    private static <V> Map<String, V> shuffled(Map<String, V> map, Random random) {
        List<String> keys = new ArrayList<>(map.keySet());
        Collections.shuffle(keys, random);
        Map<String, V> shuffled = new LinkedHashMap<>();
        keys.forEach(key -> shuffled.put(key, map.get(key)));
        return shuffled;
    }
}
