package org.gramian.tensor.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The reference files, which another program wrote. */
final class GoldenFilesTest {
    private static final String PROPERTY = "gramian.golden";

    @TempDir
    Path folder;

    @Test
    void featuresOfTheBilinearReferenceAreFinite() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            TensorFile file = Safetensors.read(golden().resolve("bilinear.safetensors"), arena);
            assertThat(file.metadata()).containsEntry("about", "M M^T / N");
            StoredTensor features = file.get("M");
            assertThat(features.type()).isEqualTo(DType.F64);
            assertThat(features.shape()).isEqualTo(Shape.of(3, 7, 12));
            double[] values =
                    features.data().toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN));
            assertThat(Arrays.stream(values)).hasSize(3 * 7 * 12).allMatch(Double::isFinite);
        }
    }

    @Test
    void roundTripOfEveryReferenceFile() throws IOException {
        List<Path> paths;
        try (Stream<Path> listed = Files.list(golden())) {
            paths = listed.filter(path -> path.toString().endsWith(".safetensors"))
                    .sorted()
                    .toList();
        }
        assertThat(paths).isNotEmpty();
        for (Path path : paths) {
            try (Arena arena = Arena.ofConfined()) {
                TensorFile file = Safetensors.read(path, arena);
                Path copy = folder.resolve(Objects.requireNonNull(path.getFileName()));
                Safetensors.write(copy, file.tensors(), file.metadata());
                TensorFile again = Safetensors.read(copy, arena);
                assertThat(again.metadata()).isEqualTo(file.metadata());
                assertThat(again.tensors().keySet()).isEqualTo(file.tensors().keySet());
                for (String name : file.tensors().keySet()) {
                    assertThat(again.get(name).shape()).isEqualTo(file.get(name).shape());
                    assertThat(again.get(name).data().mismatch(file.get(name).data()))
                            .isEqualTo(-1);
                }
            }
        }
    }

    private static Path golden() {
        List<String> places = List.of(System.getProperty(PROPERTY, ""), "../shared/golden", "../../shared/golden");
        for (String place : places) {
            if (!place.isEmpty() && Files.isDirectory(Path.of(place))) {
                return Path.of(place);
            }
        }
        return abort("skipped: no folder of reference files at -D" + PROPERTY + "=DIR, nor at "
                + String.join(", ", places.subList(1, 3)) + " from "
                + Path.of("").toAbsolutePath());
    }
}
