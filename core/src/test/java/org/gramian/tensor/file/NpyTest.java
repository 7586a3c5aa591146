package org.gramian.tensor.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class NpyTest {
    private static final ValueLayout.OfDouble F64 =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** {@code np.save("x.npy", np.array([[1.5, -2.0]]))} of numpy 2.4, character by byte. */
    private static final String NUMPY_FILE =
            "\u0093NUMPY\1\0v\0" + "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }" + " ".repeat(58) + "\n"
                    + "\0\0\0\0\0\0ø?" + "\0\0\0\0\0\0\0À";

    @TempDir
    Path folder;

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("org.gramian.tensor.file.SampleTensors#seeds")
    void roundTrip(long seed) throws IOException {
        Random random = new Random(seed);
        for (DType type : DType.values()) {
            if (type != DType.BF16) {
                assertReadBack(SampleTensors.tensor(type, random));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, mode = EnumSource.Mode.EXCLUDE, names = "BF16")
    void dataIsAlignedTo64AndBytesAreDeterministic(DType type) throws IOException {
        StoredTensor tensor = SampleTensors.tensor(type, Shape.of(3, 5), new Random(1));
        Npy.write(folder.resolve("a.npy"), tensor);
        Npy.write(folder.resolve("b.npy"), tensor);
        assertThat(folder.resolve("a.npy")).hasSameBinaryContentAs(folder.resolve("b.npy"));
        assertThat((Files.size(folder.resolve("a.npy")) - tensor.data().byteSize()) % 64)
                .isZero();
    }

    @Test
    void fileOfNumpyIsReadAndWritten() throws IOException {
        byte[] bytes = NUMPY_FILE.getBytes(StandardCharsets.ISO_8859_1);
        Path path = Files.write(folder.resolve("numpy.npy"), bytes);
        try (Arena arena = Arena.ofConfined()) {
            StoredTensor read = Npy.read(path, arena);
            assertThat(read.type()).isEqualTo(DType.F64);
            assertThat(read.shape()).isEqualTo(Shape.of(1, 2));
            assertThat(read.data().toArray(F64)).containsExactly(1.5, -2);
            Npy.write(path, read);
        }
        assertThat(path).hasBinaryContent(bytes);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void allVersionsAreRead(int version) throws IOException {
        byte[] bytes = SampleTensors.npy(version, "{\"shape\":(2,),\"fortran_order\" :False , 'descr':'|u1'}\n", 2);
        assertThat(readBytes(bytes)).containsExactly(0, 1);
    }

    @Test
    void scalarsAndEmptyArraysAreRead() throws IOException {
        assertThat(readBytes(SampleTensors.npy(1, header("False", "()"), 1))).containsExactly(0);
        assertThat(readBytes(SampleTensors.npy(1, header("False", "(0,)"), 0))).isEmpty();
        assertThat(readBytes(SampleTensors.npy(1, header("True", "(3, 0, 2)"), 0)))
                .isEmpty();
        assertThat(readBytes(SampleTensors.npy(1, header("True", "(2,)"), 2))).containsExactly(0, 1);
    }

    @Test
    void fortranOrderBecomesRowMajor() throws IOException {
        assertThat(readBytes(SampleTensors.npy(1, header("True", "(2, 3)"), 6))).containsExactly(0, 2, 4, 1, 3, 5);
        assertThat(readBytes(SampleTensors.npy(1, header("True", "(2, 3, 2)"), 12)))
                .containsExactly(0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11);
    }

    @Test
    void widerElementsInFortranOrderKeepTheirBytesTogether() throws IOException {
        String header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n";
        assertThat(readBytes(SampleTensors.npy(1, header, 16)))
                .containsExactly(0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15);
    }

    @Test
    void bfloat16IsRejected() {
        StoredTensor tensor = SampleTensors.tensor(DType.BF16, new Random(1));
        assertRejected(() -> Npy.write(folder.resolve("x.npy"), tensor), ".npy", "BF16", "F32", ".safetensors");
        assertThat(folder).isEmptyDirectory();
    }

    private void assertReadBack(StoredTensor tensor) throws IOException {
        Path path = folder.resolve("x.npy");
        Npy.write(path, tensor);
        try (Arena arena = Arena.ofConfined()) {
            StoredTensor read = Npy.read(path, arena);
            assertThat(read.type()).isEqualTo(tensor.type());
            assertThat(read.shape()).isEqualTo(tensor.shape());
            assertThat(MemorySegment.mismatch(
                            read.data(),
                            0,
                            read.data().byteSize(),
                            tensor.data(),
                            0,
                            tensor.data().byteSize()))
                    .isEqualTo(-1);
        }
    }

    private byte[] readBytes(byte[] file) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            return Npy.read(Files.write(folder.resolve("x.npy"), file), arena)
                    .data()
                    .toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static String header(String fortranOrder, String shape) {
        return "{'descr': '|u1', 'fortran_order': %s, 'shape': %s, }\n".formatted(fortranOrder, shape);
    }
}
