package org.gramian.backbone.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.onnx.HostTensor;
import org.gramian.backbone.onnx.OnnxFile;
import org.gramian.backbone.onnx.OnnxGraph;
import org.gramian.backbone.onnx.OnnxNode;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;
import org.junit.jupiter.api.Test;

/** Every way to write a layer of a network in ONNX gives the same weights; 1x1 convolutions may be matrix products. */
final class OnnxWeightsTest {
    private static final double EPSILON = 1e-3;

    private final SplittableRandom random = new SplittableRandom(4);
    private final Backbone squeezenet = Backbone.of("squeezenet", "logits");
    private final SequencedMap<String, StoredTensor> weights = new LinkedHashMap<>();
    private final List<OnnxNode> nodes = new ArrayList<>();
    private final Map<String, float[]> expected = new LinkedHashMap<>();

    private static String last(List<OnnxNode> nodes) {
        return nodes.isEmpty() ? "images" : nodes.getLast().outputs().getFirst();
    }

    private void node(String operator, Map<String, Object> attributes, String... weightNames) {
        List<String> inputs = new ArrayList<>(List.of(last(nodes)));
        inputs.addAll(List.of(weightNames));
        String name = "n" + nodes.size();
        nodes.add(new OnnxNode(name, operator, inputs, List.of(name), attributes));
    }

    private String weight(Shape shape, float... values) {
        String name = "w" + weights.size();
        weights.put(name, new StoredTensor(DType.F32, shape, MemorySegment.ofArray(values)));
        return name;
    }

    private float[] draw(long count, double least) {
        float[] values = new float[Math.toIntExact(count)];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextDouble(least, 2);
        }
        return values;
    }

    private static float[] transposed(float[] values, int rows) {
        int columns = values.length / rows;
        float[] result = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            result[i % columns * rows + i / columns] = values[i];
        }
        return result;
    }

    private static float difference(float[] found, float[] wanted) {
        assertThat(found).hasSameSizeAs(wanted);
        float most = 0;
        for (int i = 0; i < found.length; i++) {
            most = Math.max(most, Math.abs(found[i] - wanted[i]));
        }
        return most;
    }

    /** Adds layer i in a form of its own, and what its weight and bias have to become. */
    private void layer(int i, ParameterSpec weight, ParameterSpec bias) {
        Shape shape = weight.shape();
        int out = Math.toIntExact(shape.at(0));
        long in = shape.elements() / out;
        float[] w = draw(shape.elements(), -2);
        float[] b = draw(out, -2);
        boolean pointwise = shape.elements() == shape.at(0) * shape.at(1);
        Shape vector = Shape.of(out);
        switch (pointwise ? i % 4 : i % 2) {
            case 0 -> node("Conv", Map.of(), weight(shape, w), weight(vector, b));
            case 1 -> {
                float[] gamma = draw(out, 0.5);
                float[] mean = draw(out, -2);
                float[] variance = draw(out, 0.1);
                node("Conv", Map.of(), weight(shape, w));
                node(
                        "BatchNormalization",
                        Map.of("epsilon", HostTensor.number(EPSILON)),
                        weight(vector, gamma),
                        weight(vector, b),
                        weight(vector, mean),
                        weight(vector, variance));
                w = w.clone();
                b = b.clone();
                for (int o = 0; o < out; o++) {
                    double scale = gamma[o] / Math.sqrt(variance[o] + EPSILON);
                    for (int k = 0; k < in; k++) {
                        w[o * (int) in + k] *= (float) scale;
                    }
                    b[o] -= (float) (mean[o] * scale);
                }
            }
            case 2 -> {
                boolean direct = i % 8 == 2;
                node(
                        "Gemm",
                        Map.of("transB", HostTensor.integer(direct ? 1 : 0)),
                        direct ? weight(Shape.of(out, in), w) : weight(Shape.of(in, out), transposed(w, out)),
                        weight(vector, b));
            }
            default -> {
                node("MatMul", Map.of(), weight(Shape.of(in, out), transposed(w, out)));
                node("Add", Map.of(), weight(vector, b));
            }
        }
        node("Relu", Map.of());
        expected.put(weight.name(), w);
        expected.put(bias.name(), b);
    }

    private OnnxFile file() {
        SequencedMap<String, Shape> shapes = new LinkedHashMap<>();
        weights.forEach((name, tensor) -> shapes.put(name, tensor.shape()));
        OnnxGraph.Input images = new OnnxGraph.Input("images", List.of(1L, 3L, 64L, 64L));
        return new OnnxFile(new OnnxGraph(13, images, last(nodes), nodes, new LinkedHashMap<>(), shapes), weights);
    }

    private SequencedMap<String, StoredTensor> read(Arena arena) {
        return OnnxWeights.of(file(), squeezenet, arena);
    }

    @Test
    void everyFormOfALayerGivesItsWeightAndBias() {
        List<ParameterSpec> specs = squeezenet.parameters();
        for (int i = 0; i < specs.size() / 2; i++) {
            layer(i, specs.get(2 * i), specs.get(2 * i + 1));
        }
        try (Arena arena = Arena.ofConfined()) {
            SequencedMap<String, StoredTensor> found = read(arena);
            assertThat(found).containsOnlyKeys(expected.keySet());
            expected.forEach((name, values) -> assertThat(
                            difference(found.get(name).data().toArray(ValueLayout.JAVA_FLOAT), values))
                    .as(name)
                    .isLessThan(2e-5f));
        }
    }

    @Test
    void otherNetworksAreRefused() {
        List<ParameterSpec> specs = squeezenet.parameters();
        layer(0, specs.get(0), specs.get(1));
        assertRejected(() -> read(Arena.ofAuto()), "squeezenet", "1 convolutions");

        for (int i = 1; i < specs.size() / 2; i++) {
            layer(0, specs.get(0), specs.get(1));
        }
        assertRejected(
                () -> read(Arena.ofAuto()),
                specs.get(2).name(),
                specs.get(2).shape().toString());
    }
}
