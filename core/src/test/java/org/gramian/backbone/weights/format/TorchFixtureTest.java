package org.gramian.backbone.weights.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.junit.jupiter.api.Test;

/** The kept files that PyTorch wrote, see the README beside them. */
final class TorchFixtureTest {
    static Path fixture(String name) {
        try {
            return Path.of(Objects.requireNonNull(TorchFixtureTest.class.getResource("/weights/" + name), name)
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void everyTensorIsReadAsPyTorchWroteIt() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            List<String> remarks = new ArrayList<>();
            TensorFile file = WeightFile.read(fixture("zip.pth"), arena, remarks::add);
            assertThat(remarks).isEmpty();
            assertThat(file.tensors().keySet())
                    .startsWith("contiguous", "transposed")
                    .endsWith("scalar", "empty")
                    .hasSize(16);
            float[] eighths = new float[24];
            for (int i = 0; i < eighths.length; i++) {
                eighths[i] = i / 8f;
            }
            assertFloats(file, "contiguous", Shape.of(2, 3, 4), eighths);
            assertFloats(file, "transposed", Shape.of(3, 2), 0, 3, 1, 4, 2, 5);
            assertFloats(file, "shared.first", Shape.of(4), 0, 1, 2, 3);
            assertFloats(file, "shared.second", Shape.of(2, 4), 4, 5, 6, 7, 8, 9, 10, 11);
            assertFloats(file, "strided", Shape.of(4), 1, 4, 7, 10);
            assertFloats(file, "parameter", Shape.of(2), 0.5f, -0.25f);
            assertFloats(file, "frozen", Shape.of(1), 1.5f);
            assertFloats(file, "scalar", Shape.of(), 7);
            assertFloats(file, "empty", Shape.of(0, 3));
        }
    }

    private static void assertFloats(TensorFile file, String name, Shape shape, float... values) throws IOException {
        Tensors32.assertSame(file.get(name), Tensors32.of(shape, values), name);
    }

    @Test
    void everyTypeKeepsItsBytes() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            TensorFile file = WeightFile.read(fixture("zip.pth"), arena, _ -> {});
            assertBytes(file, "f64", DType.F64, "000000000000f03f 00000000000000c0 9a9999999999b93f");
            assertBytes(file, "f16", DType.F16, "003c 00c0 0038");
            assertBytes(file, "bf16", DType.BF16, "803f 00c0 003f");
            assertBytes(file, "i64", DType.I64, "0100000000000000 feffffffffffffff 005ed0b200000000");
            assertBytes(file, "i32", DType.I32, "01000000 feffffff 70110100");
            assertBytes(file, "u8", DType.U8, "00 7f ff");
            assertBytes(file, "bool", DType.BOOL, "01 00");
        }
    }

    private static void assertBytes(TensorFile file, String name, DType type, String hex) throws IOException {
        StoredTensor tensor = file.get(name);
        assertThat(tensor.type()).as(name).isEqualTo(type);
        assertThat(HexFormat.of().formatHex(tensor.data().toArray(ValueLayout.JAVA_BYTE)))
                .as(name)
                .isEqualTo(hex.replace(" ", ""));
    }
}
