package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Preprocessing;
import org.gramian.model.Model;
import org.gramian.model.ModelFile;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs whose head begins with weights of the network, and runs on two layers. */
class TailRunTest {
    @TempDir
    private Path folder = Path.of("");

    private SmallRun run = new SmallRun(folder);

    @BeforeEach
    void prepare() throws IOException {
        run = SmallRun.in(folder)
                .with("network.backbone", "squeezenet")
                .with("network.layer", "fire9")
                .with("data.crops", CropPlan.parse("center:40"))
                .with("network.pooling", "tail")
                .with("network.weights", Optional.of(weights(true).toString()));
    }

    /** Random weights with or without those of the tail. */
    private Path weights(boolean scores) throws IOException {
        Backbone whole = Backbone.of("squeezenet", Backbone.LOGITS);
        Path file = folder.resolve(scores ? "whole.safetensors" : "features.safetensors");
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        try (Arena arena = Arena.ofShared();
                ParameterSet parameters =
                        ParameterSet.initialize(whole.parameters(), new SplittableRandom(3), DType.F32, Device.CPU)) {
            for (Parameter parameter : parameters.all()) {
                if (scores || !whole.classifier().contains(parameter.name())) {
                    tensors.put(parameter.name(), stored(parameter.value(), arena));
                }
            }
            Safetensors.write(file, tensors, Map.of("input", Preprocessing.CAFFE.text()));
        }
        return file;
    }

    private static StoredTensor stored(Tensor tensor, Arena arena) {
        byte[] bytes = tensor.toBytes();
        return new StoredTensor(tensor.type(), tensor.shape(), arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes));
    }

    private RunResult train() throws IOException, InterruptedException {
        return run.train(List.of("1"));
    }

    @Test
    void tailStartsFromPretrainedWeights() throws IOException, InterruptedException {
        Path model = train().folds().getFirst().folder().resolve("model.safetensors");
        try (Arena arena = Arena.ofShared();
                ModelFile.Stored stored = ModelFile.read(model, Device.CPU)) {
            Map<String, StoredTensor> weights =
                    Safetensors.read(folder.resolve("whole.safetensors"), arena).tensors();
            Model found = stored.model();
            assertThat(found.head().pooling()).hasToString("tail:network=squeezenet,layer=fire9");
            assertThat(found.head().pretrained()).hasSize(2);
            found.head()
                    .pretrained()
                    .forEach((own, networks) -> assertThat(
                                    found.headParameters().get(own).value().toBytes())
                            .as(own)
                            .isEqualTo(bytes(Objects.requireNonNull(weights.get(networks)))));
        }
    }

    private static byte[] bytes(StoredTensor tensor) {
        return tensor.data().toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void planDescribesTheTail() throws IOException, InterruptedException {
        Workload work = run.trainer().workload(run.plan());
        assertThat(work.tail().orElseThrow().layers()).containsExactly("conv10");
        assertThat(work.tailParameters()).isEqualTo(513_000);
        assertThat(work.headParameters()).isEqualTo(2 * 1001);
        assertThat(work.descriptorSize()).isEqualTo(1000);
        assertThat(work.memoryBytes()).isGreaterThan(4 * (work.backboneParameters() + 513_000));
        assertThat(run.with("network.pooling", "average")
                        .trainer()
                        .workload(run.with("network.pooling", "average").plan())
                        .tail())
                .isEmpty();
    }

    @Test
    void weightsWithoutTheTailAreRefused() throws IOException {
        run = run.with("network.weights", Optional.of(weights(false).toString()));
        assertThatThrownBy(this::train)
                .isInstanceOf(UnusableWeightsException.class)
                .has(facts("squeezenet", "fire9", "conv10.weight", "conv10.bias"));
    }
}
