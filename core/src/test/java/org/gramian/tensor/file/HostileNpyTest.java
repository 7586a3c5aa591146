package org.gramian.tensor.file;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HostileNpyTest {
    @TempDir
    Path folder;

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '#', commentCharacter = '~', quoteCharacter = '`', textBlock = """
        ``                                                       # expected a dictionary of
        []                                                       # expected a dictionary of
        {                                                        # found its end at character 1
        {}                                                       # expected the keys 'descr', 'fortran_order' and
        {'descr': '<f8', 'fortran_order': False}                 # expected the keys 'descr', 'fortran_order' and
        {'descr': '<f8', 'code': 'x'}                            # expected the keys 'descr', 'fortran_order' and
        {'descr': '<f8', 'descr': '<f8'}                         # expected every key once, found descr twice
        {'code': 1}                                              # found ''code': 1}' at character 1
        {'descr' '<f8'}                                          # at character 1
        {'descr': '<f8'; }                                       # at character 1
        {'descr: 1}                                              # at character 1
        {'descr': [('a', '<f8')]}                                # at character 1
        {'shape': [1]}                                           # at character 1
        {'shape': (-1,)}                                         # at character 1
        {'shape': (2L,)}                                         # at character 1
        {'shape': (__import__('os').system('x'),)}               # at character 1
        {'shape': ((((((((((((((1                                # at character 1
        {'shape': (1,                                            # at character 1
        {'descr': '<f8', 'fortran_order': False, 'shape': (2,)}x # at character 54
        {'descr': '>f8', 'fortran_order': False, 'shape': (2,)}  # expected one of the types <f2, <f4, <f8, <i4, <i
        {'descr': '|O', 'fortran_order': False, 'shape': (2,)}   # found '|O'
        {'descr': '<f8', 'fortran_order': (0,), 'shape': (2,)}   # expected True or False as 'fortran_order'
        {'descr': '<f8', 'fortran_order': False, 'shape': True}  # expected a tuple
        {'descr': '<f8', 'fortran_order': False, 'shape': (16)}  # expected a tuple
        {'descr': '<f8', 'fortran_order': False, 'shape': (2 3,)} # expected whole numbers
        {'descr': '<f8', 'fortran_order': False, 'shape': (,)}   # the header: expected
        {'descr': '<f8', 'fortran_order': False, 'shape': (1,,2)} # expected whole numbers
        {'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808,)} # from 0 to 2^63-1
        {'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)} # the number of elements of
        {'descr': '<f8', 'fortran_order': False, 'shape': (3,)}  # is truncated: F64 of shape [3] takes 24 bytes
        {'descr': '<f8', 'fortran_order': False, 'shape': (1,)}  # has trailing bytes: F64 of shape [1] takes 8 by
        {'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693953,)} # exceed 2^63-1
        """)
    void invalidHeaderIsRejectedWithReason(String header, String message) throws IOException {
        assertRejected(SampleTensors.npy(1, header, 16), message);
    }

    @Test
    void moreThan64DimensionsAreRejected() throws IOException {
        String header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1, ".repeat(20_000) + ")}";
        assertRejected(SampleTensors.npy(1, header, 0), "expected a tuple of at most 64 numbers");
    }

    @Test
    void otherFileTypeIsRejected() throws IOException {
        assertRejected("PK\3\4 a zip".getBytes(StandardCharsets.US_ASCII), "expected an .npy file");
        assertRejected(SampleTensors.npy(4, "{}", 0), "expected .npy version 1.0, 2.0 or 3.0, found 4.0");
        assertRejected(SampleTensors.npy(0, "{}", 0), "found 0.0");
    }

    @Test
    void headerBeyondTheLimitIsRejected() throws IOException {
        assertRejected(SampleTensors.npy(2, " ".repeat(65_536), 0), "at most 65535 bytes, found a length of 65536");
        byte[] lying = SampleTensors.npy(2, "{}", 0);
        Arrays.fill(lying, 8, 12, (byte) 0xff);
        assertRejected(lying, "found a length of 4294967295");
    }

    @Test
    void everyTruncationIsRejected() throws IOException {
        byte[] whole = SampleTensors.npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}\n", 16);
        for (int size = 0; size < whole.length; size++) {
            boolean inData = size >= whole.length - 16;
            assertRejected(Arrays.copyOf(whole, size), inData ? "is truncated" : "found the end of the file after");
        }
    }

    @Test
    void nonFileIsRejected() {
        assertRejected(folder, "expected a file, found a directory");
        assertRejected(folder.resolve("absent.npy"), "expected a file, found none");
    }

    private void assertRejected(byte[] content, String message) throws IOException {
        assertRejected(Files.write(folder.resolve("hostile.npy"), content), message);
    }

    private static void assertRejected(Path path, String message) {
        try (Arena arena = Arena.ofConfined()) {
            assertThatExceptionOfType(TensorFileException.class)
                    .isThrownBy(() -> Npy.read(path, arena))
                    .withMessageStartingWith(path + ": ")
                    .withMessageContaining(message);
        }
    }
}
