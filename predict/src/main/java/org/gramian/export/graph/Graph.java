package org.gramian.export.graph;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.gramian.backbone.onnx.HostTensor;
import org.gramian.backbone.onnx.OnnxNode;
import org.gramian.backbone.onnx.OnnxWriter;
import org.gramian.basis.Protobuf;
import org.gramian.tensor.Shape;

/**
 * Builder of an ONNX graph: nodes and constants, named after their part, e.g. {@code pooling/rbf/Exp}; {@link Value} has the
 * operators.
 *
 * <p>Repeated names are numbered. A parameter keeps its name in the model file and is not copied: its memory must stay readable
 * until the graph is written.
 */
final class Graph {
    private final List<OnnxNode> nodes = new ArrayList<>();
    private final List<Protobuf.Writer> constants = new ArrayList<>();
    private final Map<String, Value> shared = new HashMap<>();
    private final Set<String> names = new HashSet<>();
    private String part = "";

    /** Adds what belongs to a part, under its name. */
    Value in(String name, Supplier<Value> content) {
        String outer = part;
        part = path(name);
        try {
            return content.get();
        } finally {
            part = outer;
        }
    }

    private String path(String name) {
        return part.isEmpty() ? name : part + "/" + name;
    }

    Protobuf.Writer message(OnnxWriter.ValueInfo input, OnnxWriter.ValueInfo... outputs) {
        return OnnxWriter.graph(nodes, constants, List.of(input), List.of(outputs));
    }

    Value input(String name, List<Long> sizes) {
        names.add(name);
        return new Value(this, name, sizes);
    }

    Value node(String operator, List<Long> sizes, List<Value> inputs) {
        return node(operator, sizes, inputs, Map.of());
    }

    Value node(String operator, List<Long> sizes, List<Value> inputs, Map<String, Object> attributes) {
        if (!ModelGraph.OPERATORS.contains(operator)) {
            throw new IllegalArgumentException(
                    "expected an operator of " + ModelGraph.OPERATORS + ", found " + operator);
        }
        String name = unique(path(operator));
        Map<String, Object> encoded = new TreeMap<>(attributes);
        encoded.replaceAll((_, value) -> switch (value) {
            case Long integer -> HostTensor.integer(integer);
            case Double number -> HostTensor.number(number);
            case long[] integers -> HostTensor.of(integers);
            default -> value;
        });
        List<String> entering = inputs.stream().map(Value::name).toList();
        List<String> leaving =
                operator.equals("TopK") ? List.of(name, unique(path(operator) + "/indices")) : List.of(name);
        nodes.add(new OnnxNode(name, operator, entering, leaving, encoded));
        return new Value(this, name, sizes);
    }

    /** Adds an output, and returns its description. */
    OnnxWriter.ValueInfo output(String name, Value value, String about) {
        if (!unique(name).equals(name)) {
            throw new IllegalStateException("two outputs are named " + name);
        }
        nodes.add(new OnnxNode(name + "/Identity", "Identity", List.of(value.name()), List.of(name), Map.of()));
        return new OnnxWriter.ValueInfo(name, value.sizes(), about);
    }

    /** Adds a tensor that is not copied under its own name, once. */
    Value parameter(String name, Shape shape, MemorySegment data) {
        return shared.computeIfAbsent("parameter/" + name, _ -> {
            String own = unique(name);
            return add(own, shape.sizes(), OnnxWriter.floats(own, shape.sizes(), data));
        });
    }

    Value constant(String name, List<Long> sizes, double... values) {
        return floats(unique(path(name)), sizes, values);
    }

    /** Adds a constant that is not copied. */
    Value constant(String name, Shape shape, float[] values) {
        String own = unique(path(name));
        return add(own, shape.sizes(), OnnxWriter.floats(own, shape.sizes(), MemorySegment.ofArray(values)));
    }

    Value constant(String name, HostTensor value) {
        String own = unique(path(name));
        return add(own, value.shape().sizes(), OnnxWriter.tensor(own, value));
    }

    Value column(String name, double... values) {
        return constant(name, List.of((long) values.length, 1L), values);
    }

    Value integers(String name, long... values) {
        return constant(name, HostTensor.of(values));
    }

    Value booleans(String name, HostTensor value) {
        String own = unique(path(name));
        return add(own, value.shape().sizes(), OnnxWriter.booleans(own, value));
    }

    /** Adds a scalar, once. */
    Value number(double value) {
        return shared("number/" + (float) value, List.of(), () -> new double[] {value});
    }

    /** Adds the identity matrix times a number, once. */
    Value identity(long size, double factor) {
        return diagonal("identity/" + size + "/" + (float) factor, size, factor, 0);
    }

    /** Adds a matrix of ones with a zero diagonal, once. */
    Value offDiagonal(long size) {
        return diagonal("off-diagonal/" + size, size, 0, 1);
    }

    private Value diagonal(String name, long size, double on, double off) {
        return shared(name, List.of(size, size), () -> {
            int rows = Math.toIntExact(size);
            double[] values = new double[rows * rows];
            Arrays.fill(values, off);
            for (int i = 0; i < rows; i++) {
                values[i * rows + i] = on;
            }
            return values;
        });
    }

    private Value shared(String name, List<Long> sizes, Supplier<double[]> values) {
        return shared.computeIfAbsent(name, _ -> floats(unique(name), sizes, values.get()));
    }

    private Value floats(String name, List<Long> sizes, double[] values) {
        long[] all = sizes.stream().mapToLong(Long::longValue).toArray();
        return add(name, all, OnnxWriter.floats(name, all, values));
    }

    private Value add(String name, long[] sizes, Protobuf.Writer constant) {
        constants.add(constant);
        return new Value(this, name, Arrays.stream(sizes).boxed().toList());
    }

    private String unique(String wanted) {
        String name = wanted;
        for (int i = 2; !names.add(name); i++) {
            name = wanted + "_" + i;
        }
        return name;
    }

    Value concat(List<Value> parts, int axis) {
        long total = parts.stream().mapToLong(each -> each.at(axis)).sum();
        return node("Concat", parts.getFirst().with(axis, total), parts, Map.of("axis", (long) axis));
    }

    /** Computes {@code (1 + #{i : sᵢ ≥ s})/(m + 1)} of scores {@code s [n, 1]} and m calibration scores. */
    Value pValue(List<Double> calibration, Value score) {
        double[] scores = calibration.stream().mapToDouble(Double::doubleValue).toArray();
        Value all = constant("calibration", List.of(1L, (long) scores.length), scores);
        Value below = score.sub(all).sign().relu().sum(1); // the number of sᵢ < s
        return below.scale(-1).shift(scores.length + 1.0).scale(1.0 / (scores.length + 1));
    }
}
