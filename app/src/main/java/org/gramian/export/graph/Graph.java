package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.gramian.autodiff.Parameter;
import org.gramian.export.proto.AttributeProto;
import org.gramian.export.proto.NodeProto;
import org.gramian.export.proto.TensorProto;
import org.gramian.export.proto.TensorProto.ElementType;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;

/**
 * Nodes and constants of a graph while it is built, under the name of the part that is being built.
 *
 * <p>Names tell where something comes from, as {@code pooling/rbf/Exp}; what would be there twice is numbered. A parameter
 * keeps its name in the model file. Weights on the processor are not copied: the model must stay open until the graph is
 * written.
 */
final class Graph {
    /** What all parts of a graph share. */
    private static final class Content {
        private final List<NodeProto> nodes = new ArrayList<>();
        private final List<TensorProto> constants = new ArrayList<>();
        private final Map<String, Value> shared = new HashMap<>();
        private final Map<String, Value> parameters = new HashMap<>();
        private final Set<String> names = new HashSet<>();
    }

    private final Content content;
    private final String part;

    private Graph(Content content, String part) {
        this.content = content;
        this.part = part;
    }

    static Graph empty() {
        return new Graph(new Content(), "");
    }

    /** The same graph; what is added is named after a part of it. */
    Graph at(String name) {
        return new Graph(content, part.isEmpty() ? name : part + "/" + name);
    }

    List<NodeProto> nodes() {
        return content.nodes;
    }

    List<TensorProto> constants() {
        return content.constants;
    }

    /** A value that a caller gives. */
    Value input(String name, List<Long> sizes) {
        content.names.add(name);
        return new Value(name, sizes);
    }

    /** Adds an operator. */
    Value node(String operator, List<Long> sizes, List<Value> inputs, AttributeProto... attributes) {
        String name = unique(part.isEmpty() ? operator : part + "/" + operator);
        content.nodes.add(new NodeProto(
                name, operator, inputs.stream().map(Value::name).toList(), name, Arrays.asList(attributes)));
        return new Value(name, sizes);
    }

    /** The value under a name of its own, by which a caller asks for it. */
    Value output(String name, Value value) {
        String own = unique(name);
        if (!own.equals(name)) {
            throw new IllegalStateException("two outputs are named " + name);
        }
        content.nodes.add(new NodeProto(name + "/Identity", "Identity", List.of(value.name()), name, List.of()));
        return new Value(name, value.sizes());
    }

    /** A parameter as it is. */
    Value parameter(Parameter parameter) {
        Tensor tensor = parameter.value();
        if (tensor.type() != DType.F32) {
            throw new IllegalArgumentException("expected weights in float32, found " + parameter);
        }
        // Two parts may have parameters of one name; they are told apart by where they are used.
        return content.parameters.computeIfAbsent(root() + parameter.name(), name -> {
            List<Long> sizes = Arrays.stream(tensor.shape().sizes()).boxed().toList();
            boolean readable = tensor.device().equals(Device.CPU) && tensor.isContiguous();
            return readable
                    ? add(new TensorProto(unique(name), ElementType.FLOAT, sizes, tensor.data()))
                    : add(TensorProto.of(unique(name), sizes, tensor.toFloats()));
        });
    }

    private String root() {
        int end = part.indexOf('/');
        return part.isEmpty() ? "" : (end < 0 ? part : part.substring(0, end)) + ".";
    }

    /** Numbers of a formula. */
    Value constant(String name, List<Long> sizes, double... values) {
        return add(TensorProto.of(unique(part + "/" + name), sizes, single(values)));
    }

    private static float[] single(double[] values) {
        float[] single = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            single[i] = (float) values[i];
        }
        return single;
    }

    /** One number, the same constant wherever it is used. */
    Value number(double value) {
        return shared("number/" + (float) value, List.of(), () -> new double[] {value});
    }

    /** Numbers that are the same constant wherever this name is used. */
    Value shared(String name, List<Long> sizes, Supplier<double[]> values) {
        return content.shared.computeIfAbsent(
                name, _ -> add(TensorProto.of(unique(name), sizes, single(values.get()))));
    }

    /** Whole numbers: axes, sizes, places. */
    Value wholes(String name, long... values) {
        return add(TensorProto.of(unique(part + "/" + name), values));
    }

    private Value add(TensorProto constant) {
        content.constants.add(constant);
        return new Value(constant.name(), constant.sizes());
    }

    private String unique(String wanted) {
        String name = wanted;
        for (int i = 2; !content.names.add(name); i++) {
            name = wanted + "_" + i;
        }
        return name;
    }
}
