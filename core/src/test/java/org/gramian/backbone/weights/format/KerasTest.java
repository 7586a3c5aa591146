package org.gramian.backbone.weights.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

import io.jhdf.HdfFile;
import io.jhdf.WritableHdfFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.gramian.backbone.weights.format.WeightFile.Format;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class KerasTest {
    private final StoredTensor kernel = Tensors32.random(new Random(1), Shape.of(3, 3, 2, 4));
    private final StoredTensor bias = Tensors32.random(new Random(2), Shape.of(4));

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "block1_conv1/block1_conv1_W_1:0, block1_conv1/block1_conv1_b_1:0",
        "block1_conv1/block1_conv1/kernel:0, block1_conv1/block1_conv1/bias:0",
        "model_weights/block1_conv1/block1_conv1/kernel:0, model_weights/block1_conv1/block1_conv1/bias:0",
        "block1_conv1/block1_conv1_1/kernel:0, block1_conv1/block1_conv1_1/bias:0",
        "block1_conv1/kernel, block1_conv1/bias",
        "layers/block1_conv1/vars/0, layers/block1_conv1/vars/1"
    })
    void everyLayoutGivesTheSameNames(String first, String second) throws IOException {
        Path path = PublishedFiles.keras(folder.resolve("a.h5"), Map.of(first, kernel, second, bias));
        try (Arena arena = Arena.ofConfined()) {
            WeightFile file = WeightFile.read(path, arena);
            assertThat(file.format()).isEqualTo(Format.KERAS);
            Tensors32.assertSame(
                    file.content().tensors(), Map.of("block1_conv1/kernel", kernel, "block1_conv1/bias", bias));
        }
    }

    @Test
    void layersOfAModelInsideAModelKeepTheirNames() throws IOException {
        Map<String, StoredTensor> tensors = new LinkedHashMap<>();
        tensors.put("vgg16/block1_conv1/kernel:0", kernel);
        tensors.put("vgg16/block1_conv1/bias:0", bias);
        tensors.put("vgg16/block1_conv2/bias:0", bias);
        try (Arena arena = Arena.ofConfined()) {
            WeightFile file = WeightFile.read(PublishedFiles.keras(folder.resolve("a.h5"), tensors), arena);
            assertThat(file.content().tensors())
                    .containsOnlyKeys("block1_conv1/kernel", "block1_conv1/bias", "block1_conv2/bias");
        }
    }

    @Test
    void whatLiesBesideTheModelIsLeftOutAndSaid() throws IOException {
        Map<String, StoredTensor> tensors =
                Map.of("model_weights/a/a/bias:0", bias, "optimizer_weights/Adam/a/bias:0", bias);
        try (Arena arena = Arena.ofConfined()) {
            WeightFile file = WeightFile.read(PublishedFiles.keras(folder.resolve("a.h5"), tensors), arena);
            assertThat(file.content().tensors()).containsOnlyKeys("a/bias");
            assertThat(file.remarks()).singleElement().is(facts("'model_weights'"));
        }
    }

    @Test
    void ofAKeras3FileOnlyTheLayersAreRead() throws IOException {
        Map<String, StoredTensor> tensors = new LinkedHashMap<>();
        tensors.put("layers/block1_conv1/vars/0", kernel);
        tensors.put("layers/block1_conv2/vars/1", bias);
        tensors.put("layers/scale/vars/2", bias);
        tensors.put("optimizer/vars/0", bias);
        try (Arena arena = Arena.ofConfined()) {
            WeightFile file = WeightFile.read(PublishedFiles.keras(folder.resolve("a.h5"), tensors), arena);
            assertThat(file.content().tensors())
                    .containsOnlyKeys("block1_conv1/kernel", "block1_conv2/bias", "scale/2");
            assertThat(file.remarks()).singleElement().is(facts("'layers'"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"conv2d", "conv2d_3", "dense_1", "functional/layers/conv2d_7"})
    void aKeras3FileThatCountsItsLayersIsRefused(String layer) throws IOException {
        Path path = PublishedFiles.keras(folder.resolve("a.h5"), Map.of("layers/" + layer + "/vars/0", kernel));
        try (Arena arena = Arena.ofConfined()) {
            assertThatExceptionOfType(TensorFileException.class)
                    .isThrownBy(() -> WeightFile.read(path, arena))
                    .has(facts("3", ".weights.h5", "model.save", "NAME.h5"));
        }
    }

    @Test
    void whatDataSetsTakeIsAddedUp() throws IOException {
        Path path = PublishedFiles.keras(folder.resolve("a.h5"), Map.of("a/kernel", kernel));
        FileLimits allowance = new FileLimits(path, 1);
        try (Arena arena = Arena.ofConfined();
                HdfFile file = new HdfFile(path)) {
            Keras.StoredWeight weight = new Keras.StoredWeight(path, "a/kernel", file.getDatasetByPath("a/kernel"));
            long size = kernel.data().byteSize();
            allowance.allocate("others", (64L << 20) - size);
            Tensors32.assertSame(weight.read(arena, allowance), kernel, "a/kernel");
            assertThatExceptionOfType(TensorFileException.class)
                    .isThrownBy(() -> weight.read(arena, allowance))
                    .has(facts("a/kernel", "67108864"));
        }
    }

    @Test
    void whatAreNoNumbersIsRefusedByName() {
        Path path = folder.resolve("a.h5");
        try (WritableHdfFile file = HdfFile.write(path)) {
            file.putGroup("layer").putDataset("kernel:0", new int[] {1, 2});
        }
        try (Arena arena = Arena.ofConfined()) {
            assertThatExceptionOfType(TensorFileException.class)
                    .isThrownBy(() -> WeightFile.read(path, arena))
                    .has(facts("layer/kernel", "floating-point"));
        }
    }

    @Test
    void aFileWithoutWeightsIsRefused() {
        Path path = folder.resolve("a.h5");
        try (WritableHdfFile file = HdfFile.write(path)) {
            file.putGroup("layer");
        }
        try (Arena arena = Arena.ofConfined()) {
            assertThatExceptionOfType(TensorFileException.class)
                    .isThrownBy(() -> WeightFile.read(path, arena))
                    .has(facts("Keras"));
        }
    }
}
