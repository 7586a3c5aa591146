package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Maps;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.testing.SharedFolder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Networks with their published weights give the class scores of another program, on photographs. */
class PretrainedBackbonesTest {
    private final Scope scope = Scope.open(); // JUnit makes one object per run
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        scope.close();
        arena.close();
    }

    @Test
    void googLeNetIsCaffes() throws IOException {
        compare("googlenet", "googlenet-bvlc", Map.of("inception_4e", "inception4eMean"));
    }

    @Test
    void squeezeNetIsCaffes() throws IOException {
        compare("squeezenet", "squeezenet-1.1", Map.of());
    }

    @Test
    void efficientNetLiteIsTensorFlows() throws IOException {
        compare("efficientnet-lite4", "efficientnet-lite4", Map.of("block20", "block20Mean", "block28", "block28Mean"));
    }

    /** Scores to 1e-3 with the same five best, and channel means of layers to 1e-4 of their largest. */
    private void compare(String name, String weights, Map<String, String> means) throws IOException {
        TensorFile golden = Safetensors.read(SharedFolder.require("golden/" + name + ".safetensors"), arena);
        TensorFile file = Safetensors.read(SharedFolder.require("weights/" + weights + ".safetensors"), arena);
        Backbone whole = Backbone.of(name, Backbone.LOGITS);
        assertThat(whole.parameters().stream().map(spec -> spec.name() + spec.shape()))
                .containsExactlyInAnyOrderElementsOf(file.tensors().entrySet().stream()
                        .map(entry -> entry.getKey() + entry.getValue().shape())
                        .toList());
        Tensor pictures = preprocessed(golden.get("image").toTensor(), whole.preprocessing());
        try (ParameterSet parameters = load(whole, file)) {
            Tensor logits = apply(whole, parameters, pictures, false);
            assertLogits(logits, golden.get("logits").toTensor());
            for (Map.Entry<String, String> layer : means.entrySet()) {
                Tensor found = apply(whole.cutAt(layer.getKey()), parameters, pictures, true);
                Tensor expected = golden.get(layer.getValue()).toTensor();
                double[] values = expected.toDoubles();
                double largest = IntStream.range(0, values.length)
                        .mapToDouble(i -> Math.abs(values[i]))
                        .max()
                        .orElseThrow();
                assertThat(found.toDoubles()).as(layer.getKey()).containsExactly(values, Offset.offset(1e-4 * largest));
            }
        }
    }

    private static ParameterSet load(Backbone backbone, TensorFile file) {
        Map<String, Tensor> values = new HashMap<>();
        file.tensors().forEach((name, stored) -> values.put(name, stored.toTensor()));
        ParameterSet parameters =
                ParameterSet.initialize(backbone.parameters(), new SplittableRandom(1), DType.F32, Device.CPU);
        parameters.assign(values);
        return parameters;
    }

    private static Tensor apply(Backbone backbone, ParameterSet parameters, Tensor pictures, boolean means) {
        try (Tape tape = Tape.inference()) {
            Var features = backbone.apply(tape.constant(pictures), Bindings.of(parameters.variables(tape)));
            return Tensors.copy((means ? Maps.globalAveragePool(features) : features).value());
        }
    }

    /** Bytes {@code [n, h, w, 3]} in the order R, G, B to {@code [n, 3, h, w]} as a network wants them. */
    private static Tensor preprocessed(Tensor bytes, Preprocessing preprocessing) {
        Tensor planes = Views.transpose(Views.transpose(Tensors.to(bytes, DType.F32), 2, 3), 1, 2);
        long[] order = preprocessing.order() == Preprocessing.Order.RGB ? new long[] {0, 1, 2} : new long[] {2, 1, 0};
        Tensor ordered = Views.select(planes, 1, Tensors.ofLongs(order, Shape.of(3)));
        return Elementwise.div(
                Elementwise.sub(ordered, perChannel(preprocessing.mean())), perChannel(preprocessing.std()));
    }

    private static Tensor perChannel(List<Double> values) {
        return Tensors.of(values.stream().mapToDouble(Double::doubleValue).toArray(), Shape.of(1, 3, 1, 1), DType.F32);
    }

    private static void assertLogits(Tensor found, Tensor expected) {
        double[] scores = found.toDoubles();
        double[] wanted = expected.toDoubles();
        assertThat(scores).containsExactly(wanted, Offset.offset(1e-3));
        int classes = (int) expected.size(1);
        for (int picture = 0; picture < expected.size(0); picture++) {
            assertThat(best(scores, picture, classes))
                    .as("picture %d", picture)
                    .isEqualTo(best(wanted, picture, classes));
        }
    }

    private static List<Integer> best(double[] scores, int picture, int classes) {
        return IntStream.range(0, classes)
                .boxed()
                .sorted(Comparator.comparingDouble(c -> -scores[picture * classes + c]))
                .limit(5)
                .toList();
    }
}
