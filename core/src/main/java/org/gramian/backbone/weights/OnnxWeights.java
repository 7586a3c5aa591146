package org.gramian.backbone.weights;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.onnx.OnnxFile;
import org.gramian.backbone.onnx.OnnxNode;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;

/**
 * Weights of a built-in network from the ONNX file of another program, whose tensor names are unknown.
 *
 * <p>The convolutions and fully connected layers of the graph are those of the network in the same order. Batch norms
 * after a convolution become part of it: {@code w·γ/√(σ² + ε)} and {@code (b − μ)·γ/√(σ² + ε) + β}.
 */
public final class OnnxWeights {
    private static final ValueLayout.OfFloat NUMBER =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final double DEFAULT_EPSILON = 1e-5;

    private final OnnxFile file;
    private final Map<String, OnnxNode> users = new HashMap<>();

    private OnnxWeights(OnnxFile file) {
        this.file = file;
        for (OnnxNode node : file.graph().nodes()) {
            node.inputs().forEach(input -> users.put(input, node));
        }
    }

    /** Weight {@code [out, in, …]} and bias {@code [out]} of a layer. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Layer(OnnxNode node, Shape shape, float[] weight, float[] bias) {}

    /** Returns the weights under the names of a built-in network whose layers have a weight and a bias each. */
    public static SequencedMap<String, StoredTensor> of(OnnxFile file, Backbone backbone, Arena arena) {
        List<Layer> layers = new OnnxWeights(file).layers();
        List<ParameterSpec> wanted = backbone.cutAt(backbone.layers().getLast()).parameters();
        if (wanted.size() != 2 * layers.size()) {
            throw new IllegalArgumentException("expected the " + wanted.size() + " weights and biases of "
                    + backbone.name() + ", found " + layers.size() + " convolutions and fully connected layers");
        }
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        for (int i = 0; i < layers.size(); i++) {
            Layer layer = layers.get(i);
            put(wanted.get(2 * i), layer.node, layer.shape, layer.weight, tensors, arena);
            put(wanted.get(2 * i + 1), layer.node, Shape.of(layer.bias.length), layer.bias, tensors, arena);
        }
        return tensors;
    }

    private static void put(
            ParameterSpec spec,
            OnnxNode node,
            Shape found,
            float[] values,
            SequencedMap<String, StoredTensor> tensors,
            Arena arena) {
        // a fully connected layer may be a convolution of one position
        if (found.at(0) != spec.shape().at(0)
                || found.elements() != spec.shape().elements()) {
            throw new IllegalArgumentException(
                    "expected " + spec.name() + " " + spec.shape() + ", found " + found + " at " + node);
        }
        MemorySegment data = arena.allocate((long) values.length * Float.BYTES, Float.BYTES);
        MemorySegment.copy(values, 0, data, NUMBER, 0, values.length);
        tensors.put(spec.name(), new StoredTensor(DType.F32, spec.shape(), data));
    }

    private List<Layer> layers() {
        List<Layer> layers = new ArrayList<>();
        for (OnnxNode node : file.graph().nodes()) {
            switch (node.operator()) {
                case "Conv" -> layers.add(normalized(layer(node, weight(node), false, bias(node, 2)), node));
                case "Gemm" -> layers.add(layer(node, weight(node), node.integer("transB", 0) == 0, bias(node, 2)));
                case "MatMul" -> {
                    Optional<OnnxNode> sum = user(node, "Add");
                    layers.add(layer(
                            node,
                            weight(node),
                            true,
                            sum.flatMap(add -> bias(add, 1).or(() -> bias(add, 0)))));
                }
                default -> {
                    // has no weights of its own, or those of a layer before it
                }
            }
        }
        return layers;
    }

    private Optional<OnnxNode> user(OnnxNode node, String operator) {
        return Optional.ofNullable(users.get(node.outputs().getFirst()))
                .filter(next -> next.operator().equals(operator));
    }

    private StoredTensor weight(OnnxNode node) {
        StoredTensor weight = file.weights().get(node.inputs().get(1));
        if (weight == null) {
            throw new IllegalArgumentException("expected a weight as second input, found none at " + node);
        }
        return weight;
    }

    private Optional<float[]> bias(OnnxNode node, int input) {
        return node.inputs().size() <= input
                ? Optional.empty()
                : Optional.ofNullable(file.weights().get(node.inputs().get(input)))
                        .map(OnnxWeights::values);
    }

    private static float[] values(StoredTensor tensor) {
        return tensor.data().toArray(NUMBER);
    }

    private static Layer layer(OnnxNode node, StoredTensor weight, boolean transposed, Optional<float[]> bias) {
        Shape shape = transposed ? Shape.of(weight.shape().at(1), weight.shape().at(0)) : weight.shape();
        float[] values = transposed
                ? transposed(
                        values(weight),
                        Math.toIntExact(weight.shape().at(0)),
                        Math.toIntExact(weight.shape().at(1)))
                : values(weight);
        return new Layer(node, shape, values, bias.orElseGet(() -> new float[Math.toIntExact(shape.at(0))]));
    }

    private static float[] transposed(float[] values, int rows, int columns) {
        float[] moved = new float[values.length];
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                moved[c * rows + r] = values[r * columns + c];
            }
        }
        return moved;
    }

    /** Returns a convolution with the batch norm after it, if there is one. */
    private Layer normalized(Layer layer, OnnxNode node) {
        Optional<OnnxNode> norm = user(node, "BatchNormalization");
        if (norm.isEmpty()) {
            return layer;
        }
        int channels = layer.bias.length;
        float[] gamma = statistics(norm.get(), 1, channels);
        float[] beta = statistics(norm.get(), 2, channels);
        float[] mean = statistics(norm.get(), 3, channels);
        float[] variance = statistics(norm.get(), 4, channels);
        double epsilon = norm.get().number("epsilon", DEFAULT_EPSILON);
        float[] weight = layer.weight.clone();
        float[] bias = layer.bias.clone();
        int each = weight.length / channels;
        for (int out = 0; out < channels; out++) {
            double scale = gamma[out] / Math.sqrt(variance[out] + epsilon);
            for (int i = out * each; i < (out + 1) * each; i++) {
                weight[i] = (float) (weight[i] * scale);
            }
            bias[out] = (float) ((bias[out] - mean[out]) * scale + beta[out]);
        }
        return new Layer(node, layer.shape, weight, bias);
    }

    private float[] statistics(OnnxNode norm, int input, int channels) {
        return bias(norm, input)
                .filter(values -> values.length == channels)
                .orElseThrow(() -> new IllegalArgumentException(
                        "expected " + channels + " values as input " + input + " of " + norm));
    }
}
