package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.cli.common.ExitCode;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every kind of bad input is one clear sentence that names the value found, exit code 2, and no output file. */
class BadInputTest {
    @TempDir
    private Path folder = Path.of("");

    private Path features(double[] values, long... sizes) throws IOException {
        Path file = folder.resolve("features.safetensors");
        try (Scope _ = Scope.open()) {
            StoredTensor stored = StoredTensor.of(Tensors.of(values, Shape.of(sizes), DType.F64));
            Safetensors.write(file, Map.of("features", stored), Map.of());
        }
        return file;
    }

    private Path randomFeatures(long... sizes) throws IOException {
        double[] values = new SplittableRandom(1)
                .doubles(Shape.of(sizes).elements(), -1, 1)
                .toArray();
        return features(values, sizes);
    }

    private void assertRefused(Path file, String pooling, Facts words) {
        Path out = folder.resolve("out.safetensors");
        Run run = Run.of("pool", "--pooling", pooling, file, out);
        assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).has(words).doesNotContain("Exception").doesNotContain("\tat ");
        assertThat(out).doesNotExist();
    }

    @Test
    void notANumber() throws IOException {
        double[] values = new double[2 * 3 * 4];
        values[13] = Double.NaN;
        values[20] = Double.POSITIVE_INFINITY;
        assertRefused(features(values, 2, 3, 2, 2), "rbf/triu", facts("NaN", "[1, 0, 0, 1]"));
    }

    @Test
    void featuresOfAnotherShape() throws IOException {
        assertRefused(randomFeatures(2, 3, 4), "rbf/triu", facts("[n, channels, height, width]", "[2, 3, 4]"));
    }

    @Test
    void aLargerMatrixThanThereAreChannels() throws IOException {
        assertRefused(randomFeatures(1, 3, 2, 2), "rbf/spd:5/triu", facts("spd:5", "3", "spd:3"));
    }

    @Test
    void onePosition() throws IOException {
        assertRefused(randomFeatures(2, 3, 1, 1), "rbf/triu", facts("2", "positions", "1"));
        assertRefused(randomFeatures(2, 3, 1, 1), "covariance/triu", facts("2", "positions", "1"));
    }

    @Test
    void anAbsentFile() {
        assertRefused(folder.resolve("absent.safetensors"), "rbf/triu", facts("absent.safetensors"));
    }

    @Test
    void aLyingHeader() throws IOException {
        byte[] header = "{\"features\":{\"dtype\":\"F64\",\"shape\":[9,9,9,9],\"data_offsets\":[0,8]}}"
                .getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(8 + header.length + 8).order(ByteOrder.LITTLE_ENDIAN);
        Path file = folder.resolve("features.safetensors");
        Files.write(file, bytes.putLong(header.length).put(header).array());
        assertRefused(file, "rbf/triu", facts("features.safetensors", "[9, 9, 9, 9]"));
        bytes.putLong(0, Long.MAX_VALUE);
        Files.write(file, bytes.array());
        assertRefused(file, "rbf/triu", facts("features.safetensors"));
    }

    @Test
    void aFileWithoutTheKey() throws IOException {
        Path file = folder.resolve("other.safetensors");
        try (Scope _ = Scope.open()) {
            StoredTensor stored = StoredTensor.of(Tensors.of(new double[4], Shape.of(4), DType.F64));
            Safetensors.write(file, Map.of("maps", stored), Map.of());
        }
        assertRefused(file, "rbf/triu", facts("'features'", "'maps'"));
    }

    @Test
    void anUpstreamGradientOfAnotherShape() throws IOException {
        Path file = randomFeatures(2, 3, 2, 2);
        Run run = Run.of("pool", "--pooling", "rbf/triu", "--upstream", file, file, folder.resolve("o.safetensors"));
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("'upstream'", "'features'");
    }

    @Test
    void aDeviceThatIsNone() throws IOException {
        Run run = Run.of("pool", "--device", "tpu", randomFeatures(2, 3, 2, 2), folder.resolve("o.safetensors"));
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("'tpu'");
    }
}
