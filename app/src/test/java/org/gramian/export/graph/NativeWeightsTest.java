package org.gramian.export.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.onnx.OnnxWriter;
import org.gramian.backbone.onnx.OnnxWriter.ValueInfo;
import org.gramian.basis.Protobuf;
import org.gramian.cli.Run;
import org.gramian.export.ExportedFile;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Weights of built-in networks from ONNX files whose tensor names say nothing. */
class NativeWeightsTest {
    @TempDir
    private Path folder = Path.of("");

    private static Protobuf.Writer network(Backbone backbone, ParameterSet parameters, int side) {
        Graph graph = new Graph();
        Value images = graph.input("data_0", List.of(1L, 3L, (long) side, (long) side));
        Map<String, StoredTensor> tensors = new LinkedHashMap<>();
        parameters.all().forEach(each -> tensors.put(each.name(), StoredTensor.of(each.value())));
        NetworkLowering network = new NetworkLowering(graph, new HostParameters(graph, tensors, ""));
        Value logits = graph.in("net", () -> network.features(backbone, images));
        ValueInfo output = graph.output("prob_1", logits.softmax(1), "probabilities");
        ValueInfo input = new ValueInfo(images.name(), images.sizes(), "images");
        return OnnxWriter.model(graph.message(input, output), 13, Map.of());
    }

    @ParameterizedTest
    @CsvSource({"squeezenet, 96", "googlenet, 224", "efficientnet-lite4, 64"})
    void mapsLayersInGraphOrder(String name, int side) throws IOException {
        Backbone backbone = Backbone.of(name, "logits");
        Path file = folder.resolve("foreign.onnx");
        Path store = folder.resolve("store");
        try (ParameterSet parameters =
                        ParameterSet.initialize(backbone.parameters(), new SplittableRandom(3), DType.F32, Device.CPU);
                Arena arena = Arena.ofConfined()) {
            ExportedFile.write(file, network(backbone, parameters, side), _ -> {});
            Run run = Run.of("weights", "import", name, file, "--weights-dir", store)
                    .done();
            assertThat(run.err())
                    .has(facts("ONNX Runtime", backbone.preprocessing().text()));
            TensorFile installed = Safetensors.read(store.resolve(name + ".safetensors"), arena);
            assertThat(installed.metadata()).doesNotContainKey("network").containsEntry("architecture", name);
            for (Parameter parameter : parameters.all()) {
                StoredTensor found = installed.get(parameter.name());
                assertThat(found.data()
                                .mismatch(
                                        MemorySegment.ofArray(parameter.value().toBytes())))
                        .as(parameter.name())
                        .isEqualTo(-1);
            }
            Run other = Run.of("weights", "import", "vgg16", file, "--weights-dir", store);
            assertThat(other.err()).has(facts("vgg16", "convolutions"));
        }
    }
}
