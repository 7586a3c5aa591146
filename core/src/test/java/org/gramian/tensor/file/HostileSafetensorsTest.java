package org.gramian.tensor.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
final class HostileSafetensorsTest {
    /** All headers below are followed by so many bytes of data. */
    private static final int DATA = 16;

    @TempDir
    Path folder;

    @ParameterizedTest(name = "{0}")
    @MethodSource("headers")
    void invalidHeaderIsRejectedWithReason(String header, String message) throws IOException {
        assertRejected(SampleTensors.safetensors(header.replace('\'', '"'), DATA), message);
    }

    static Stream<Arguments> headers() {
        return Stream.of(faultsOfJson(), faultsOfTensors(), faultsOfOffsets()).flatMap(faults -> faults);
    }

    private static Stream<Arguments> faultsOfJson() {
        return Stream.of(
                arguments("", "expected the header to begin with '{', found nothing"),
                arguments(" {}", "expected the header to begin with '{', found byte 0x20"),
                arguments("[]", "expected the header to begin with '{', found byte 0x5b"),
                arguments("{'a': ", "expected a header in JSON within limits, found: Unexpected end"),
                arguments("{a: 1}", "expected a header in JSON within limits, found: Unexpected character"),
                arguments("{} {}", "expected only spaces after the header's JSON object, found {"),
                arguments("{'__metadata__': 1}", "expected an object as __metadata__, found 1"),
                arguments("{'__metadata__': {'k': {}}}", "expected text as metadata 'k', found {"),
                arguments("{'__metadata__': {'k': 'a', 'k': 'b'}}", "uplicate"),
                arguments("{'__metadata__': {}, '__metadata__': {}}", "uplicate"),
                arguments("{'\\ud800': 1}", "urrogate"),
                arguments("{'\\udc00': 1}", "urrogate"),
                arguments("{'__metadata__': {'\\ud800x': ''}}", "urrogate"),
                arguments("{'__metadata__': {'k': '\\ud800'}}", "urrogate"),
                arguments("{'__metadata__': {'k': '\\udc00'}}", "urrogate"),
                arguments("{'" + "n".repeat(60_000) + "': 1}", "Name length ("),
                arguments("{'a': " + "[".repeat(100_000), "expected an object with dtype"),
                arguments("{'a': " + "{'dtype': ".repeat(100_000), "expected text as dtype of tensor 'a', found {"));
    }

    private static Stream<Arguments> faultsOfTensors() {
        return Stream.of(
                arguments("{'a': null}", "expected an object with dtype, shape and data_offsets as tensor 'a'"),
                arguments("{'a': {}}", "tensor 'a': expected dtype, shape and data_offsets, found no dtype"),
                arguments("{'a': {'dtype': 'U8', 'data_offsets': [0,16]}}", "found no shape"),
                arguments("{'a': {'dtype': 'U8', 'shape': [16]}}", "found no data_offsets"),
                arguments("{'a': {'dtype': 'U8', 'code': 'run()'}}", "found 'code'"),
                arguments("{'a': {'dtype': 'U8', 'dtype': 'U8'}}", "uplicate"),
                arguments("{'a': {'shape': [], 'shape': []}}", "uplicate"),
                arguments("{" + a("U8", "16", "0,16") + "," + a("U8", "16", "0,16") + "}", "uplicate"),
                arguments(one("I16", "4", "0,8"), "the type 'I16' is not supported; supported are F64, F32, BF16"),
                arguments(one("F8_E4M3", "4", "0,4"), "the type 'F8_E4M3' is not supported; supported are F64"),
                arguments(one("f32", "4", "0,16"), "the type 'f32' is not supported; supported are F64"),
                arguments("{'a': {'dtype': 7}}", "expected text as dtype of tensor 'a', found 7"),
                arguments("{'a': {'shape': 16}}", "expected an array as shape of tensor 'a', found 16"),
                arguments(one("U8", "-16", "0,16"), "from 0 to 2^63-1 as shape of tensor 'a', found -16"),
                arguments(one("U8", "1.6e1", "0,16"), "expected whole numbers"),
                arguments(one("U8", "'16'", "0,16"), "expected whole numbers"),
                arguments(one("U8", "[16]", "0,16"), "expected whole numbers"),
                arguments(one("U8", "18446744073709551632", "0,16"), "found 18446744073709551632"),
                arguments(one("U8", "1".repeat(5000), "0,16"), "Number value length (5000) exceeds"),
                arguments(one("U8", "1e999999999", "0,16"), "expected whole numbers"),
                arguments(one("U8", "4294967296,4294967296", "0,0"), "number of elements"),
                arguments(one("F64", "2305843009213693953", "0,8"), "exceed 2^63-1"),
                arguments(one("U8", "1" + ",1".repeat(64), "0,1"), "expected at most 64 numbers"));
    }

    private static Stream<Arguments> faultsOfOffsets() {
        return Stream.of(
                arguments(one("U8", "16", "0"), "expected data_offsets [begin, end] with begin <= end, found [0]"),
                arguments(one("U8", "16", "0,8,16"), "expected at most 2 numbers as data_offsets"),
                arguments(one("U8", "16", "16,0"), "begin <= end, found [16, 0]"),
                arguments(one("U8", "16", "-16,0"), "as data_offsets of tensor 'a', found -16"),
                arguments(one("U8", "16", "0,9223372036854775808"), "found 9223372036854775808"),
                arguments(one("F32", "3", "0,16"), "F32 of shape [3] takes 12 bytes, found 16"),
                arguments(one("F32", "", "0,16"), "F32 of shape [] takes 4 bytes, found 16"),
                arguments(one("U8", "15", "1,16"), "tensor 'a' leaves a hole before it: expected it to begin at"),
                arguments(
                        "{" + a("U8", "10", "0,10") + "," + a("U8", "8", "8,16").replace("'a'", "'b'") + "}",
                        "tensor 'b' overlaps the tensor before it: expected it to begin at offset 10, found 8"),
                arguments(
                        "{" + a("U8", "8", "0,8") + "," + a("U8", "7", "9,16").replace("'a'", "'b'") + "}",
                        "tensor 'b' leaves a hole before it: expected it to begin at offset 8, found 9"),
                arguments(
                        "{" + a("U8", "16", "0,16") + "," + a("U8", "0", "8,8").replace("'a'", "'b'") + "}",
                        "tensor 'b' overlaps the tensor before it"),
                arguments(one("U8", "17", "0,17"), "is truncated: the header describes 17 bytes of data, found 16"),
                arguments(one("U8", "15", "0,15"), "has trailing bytes: the header describes 15 bytes of data"),
                arguments(
                        one("U8", "9223372036854775807", "0,9223372036854775807"),
                        "is truncated: the header describes 9223372036854775807 bytes of data, found 16"),
                arguments("{}", "has trailing bytes: the header describes 0 bytes of data, found 16"));
    }

    private static String one(String type, String shape, String offsets) {
        return "{" + a(type, shape, offsets) + "}";
    }

    private static String a(String type, String shape, String offsets) {
        return "'a': {'dtype': '%s', 'shape': [%s], 'data_offsets': [%s]}".formatted(type, shape, offsets);
    }

    @Test
    void headerThatIsNotUtf8IsRejected() throws IOException {
        byte[] header = "{\"é\": 1}".getBytes(StandardCharsets.ISO_8859_1);
        assertRejected(SampleTensors.safetensors(header, 0), "expected a header in UTF-8, found other bytes");
        byte[] overlong = {'{', '"', (byte) 0xc0, (byte) 0xaf, '"', '}'};
        assertRejected(SampleTensors.safetensors(overlong, 0), "expected a header in UTF-8");
    }

    @Test
    void moreThan100000TensorsAreRejected() throws IOException {
        String header = IntStream.rangeClosed(0, 100_000)
                .mapToObj(i -> "\"" + i + "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}")
                .collect(Collectors.joining(",", "{", "}"));
        assertRejected(SampleTensors.safetensors(header, 0), "expected at most 100000 tensors, found more");
    }

    @Test
    void moreThan100000MetadataAreRejected() throws IOException {
        String header = IntStream.rangeClosed(0, 100_000)
                .mapToObj(i -> "\"" + i + "\":\"\"")
                .collect(Collectors.joining(",", "{\"__metadata__\":{", "}}"));
        assertRejected(SampleTensors.safetensors(header, 0), "expected at most 100000 metadata, found more");
    }

    @Test
    void textOfMoreThan20MillionCharactersIsRejected() throws IOException {
        String header = "{\"__metadata__\":{\"k\":\"" + "x".repeat(20_100_000) + "\"}}";
        assertRejected(SampleTensors.safetensors(header, 0), "String value length (");
    }

    @Test
    void lengthBeyondLimitOrFileIsRejected() throws IOException {
        assertRejected(length(100_000_001), "its first 8 bytes state a header of 100000001 bytes");
        assertRejected(length(-1), "state a header of 18446744073709551615 bytes");
        assertRejected(length(100), "expected a header of 100 bytes, found the end of the file after 2; is the file");
    }

    @Test
    void everyTruncationIsRejected() throws IOException {
        byte[] whole = SampleTensors.safetensors(one("U8", "16", "0,16").replace('\'', '"'), DATA);
        for (int size = 0; size < whole.length; size++) {
            assertRejected(Arrays.copyOf(whole, size), size < 8 ? "the end of the file after " + size : "truncated");
        }
    }

    @Test
    void hugeSparseFileIsRejectedByItsHeader() throws IOException {
        Path path = folder.resolve("huge.safetensors");
        Files.write(path, length(50_000_000));
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(1L << 33);
        }
        assertRejected(path, "found: Illegal character");
    }

    @Test
    void nonFileIsRejected() throws IOException {
        assertRejected(folder, "expected a file, found a directory");
        assertRejected(folder.resolve("absent.safetensors"), "expected a file, found none");
        Path device = Path.of("/dev/null");
        if (Files.exists(device)) {
            assertRejected(device, "expected a file, found something");
        }
    }

    private static byte[] length(long length) {
        return ByteBuffer.allocate(10)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(length)
                .put((byte) '{')
                .put((byte) '}')
                .array();
    }

    private void assertRejected(byte[] content, String message) throws IOException {
        assertRejected(Files.write(folder.resolve("hostile.safetensors"), content), message);
    }

    private static void assertRejected(Path path, String message) {
        try (Arena arena = Arena.ofConfined()) {
            assertThatExceptionOfType(TensorFileException.class)
                    .isThrownBy(() -> Safetensors.read(path, arena))
                    .withMessageStartingWith(path + ": ")
                    .withMessageContaining(message)
                    .satisfies(e -> assertThat(e.getMessage())
                            .hasSizeLessThan(path.toString().length() + 400));
        }
    }
}
