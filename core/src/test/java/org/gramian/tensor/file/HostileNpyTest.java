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
        ``                                                       # at character 0: expected '{', found the end
        []                                                       # expected '{', found '[]'
        {                                                        # expected a key: 'descr', 'fortran_order' or 's
        {}                                                       # found no 'descr'
        {'descr': '<f8'}                                         # found no 'fortran_order'
        {'descr': '<f8', 'fortran_order': False}                 # found no 'shape'
        {'descr': '<f8', 'descr': '<f8'}                         # expected every key once, found 'descr' twice
        {'fortran_order': True, 'fortran_order': True}           # found 'fortran_order' twice
        {'shape': (), 'shape': ()}                               # found 'shape' twice
        {'code': 1}                                              # found 'code'
        {'descr' '<f8'}                                          # expected ':', found
        {'descr': '<f8'; }                                       # expected '}', found '; }'
        {'descr: 1}                                              # expected a key
        {'descr': '>f8'}                                         # expected a little-endian type, found the big-e
        {'descr': '<i2'}                                         # expected one of the types <f2, <f4, <f8, <i4, <i8,
        {'descr': '|O'}                                          # found '|O'
        {'descr': [('a', '<f8')]}                                # records are not supported
        {'fortran_order': 0}                                     # expected True or False as 'fortran_order'
        {'shape': [1]}                                           # expected '(', found '[1]}'
        {'shape': (16)}                                          # expected a tuple as 'shape'
        {'shape': (-1,)}                                         # expected whole numbers from 0 to 2^63-1
        {'shape': (1.5,)}                                        # expected ',' or ')' in 'shape', found '.5,)}'
        {'shape': (2L,)}                                         # expected ',' or ')' in 'shape', found 'L,)}'
        {'shape': (2 3)}                                         # expected ',' or ')' in 'shape', found '3)}'
        {'shape': (,)}                                           # expected whole numbers
        {'shape': (__import__('os').system('x'),)}               # expected whole numbers
        {'shape': (9223372036854775808,)}                        # expected whole numbers from 0 to 2^63-1
        {'shape': (4294967296, 4294967296)}                      # the number of elements of
        {'shape': ((((((((((((((1                                # expected whole numbers
        {'shape': (1,                                            # found the end of the header
        {'descr': '<f8', 'fortran_order': False, 'shape': (2,)}x # expected only spaces and a newline after '}'
        {'descr': '<f8', 'fortran_order': False, 'shape': (3,)}  # is truncated: F64 of shape [3] takes 24 bytes
        {'descr': '<f8', 'fortran_order': False, 'shape': (1,)}  # has trailing bytes: F64 of shape [1] takes 8 by
        {'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693953,)} # exceed 2^63-1
        """)
    void invalidHeaderIsRejectedWithReason(String header, String message) throws IOException {
        assertRejected(SampleTensors.npy(1, header, 16), message);
    }

    @Test
    void moreThan64DimensionsAreRejected() throws IOException {
        String header = "{'shape': (" + "1, ".repeat(65) + ")}";
        assertRejected(SampleTensors.npy(1, header, 0), "expected at most 64 dimensions, found more");
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
