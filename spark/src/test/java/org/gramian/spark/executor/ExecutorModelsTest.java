package org.gramian.spark.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkContext;
import org.gramian.model.ModelFileException;
import org.gramian.spark.executor.ExecutorModels.SharedModel;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.spark.testing.SmallModel;
import org.gramian.tensor.Device;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExecutorModelsTest {
    @TempDir
    private Path folder;

    @Test
    void loadsModelOnceAndFreesUnused() throws IOException {
        SparkContext context = LocalSpark.session().sparkContext();
        SharedModel first = shared(context, 1);
        SharedModel second = shared(context, 2);
        ExecutorModels.Loaded one = ExecutorModels.acquire(first, Device.CPU);
        ExecutorModels.Loaded two = ExecutorModels.acquire(first, Device.CPU);
        int loaded = ExecutorModels.count();
        one.release();
        ExecutorModels.Loaded other = ExecutorModels.acquire(second, Device.CPU);

        assertThat(loaded).isEqualTo(1);
        assertThat(ExecutorModels.count()).as("the first is in use").isEqualTo(2);
        two.release();
        other.release();
        ExecutorModels.acquire(shared(context, 3), Device.CPU).release();
        assertThat(ExecutorModels.count()).as("neither is in use").isEqualTo(1);
        assertThat(one.classifier().card().classes()).isEqualTo(SmallModel.CLASSES);
    }

    @Test
    void readsClassifierOrNamesTheWrongFile() throws IOException {
        byte[] model = Files.readAllBytes(SmallModel.write(folder.resolve("model.safetensors"), 1));
        assertThat(ModelContent.unlessDetector(model, "model").orElseThrow().classes())
                .isEqualTo(SmallModel.CLASSES);
        assertThatThrownBy(() -> ModelContent.unlessDetector(new byte[9], "far/model.safetensors"))
                .isInstanceOf(ModelFileException.class)
                .hasMessageContaining("far/model.safetensors");
    }

    private SharedModel shared(SparkContext context, long seed) throws IOException {
        Path file = SmallModel.write(folder.resolve(seed + ".safetensors"), seed);
        return ModelContent.of(Files.readAllBytes(file), file.toString()).share(context);
    }
}
