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
import org.gramian.export.proto.OnnxProto;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;

/**
 * Builder of a graph: nodes and constants, named after their part, e.g. {@code pooling/rbf/Exp}.
 *
 * <p>Repeated names are numbered. A parameter keeps its name in the model file. Weights on the CPU are not copied: the model must
 * stay open until the graph is written.
 */
final class Graph {
    /** Content shared by all parts. */
    private static final class Content {
        private final List<OnnxProto.Node> nodes = new ArrayList<>();
        private final List<OnnxProto.Tensor> constants = new ArrayList<>();
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

    /** Returns the graph under the name of a part. */
    Graph at(String name) {
        return new Graph(content, part.isEmpty() ? name : part + "/" + name);
    }

    List<OnnxProto.Node> nodes() {
        return content.nodes;
    }

    List<OnnxProto.Tensor> constants() {
        return content.constants;
    }

    /** Adds an input. */
    Value input(String name, List<Long> sizes) {
        content.names.add(name);
        return new Value(name, sizes);
    }

    /** Adds an operator. */
    Value node(String operator, List<Long> sizes, List<Value> inputs, OnnxProto.Attribute... attributes) {
        String name = unique(part.isEmpty() ? operator : part + "/" + operator);
        content.nodes.add(new OnnxProto.Node(
                name, operator, inputs.stream().map(Value::name).toList(), name, Arrays.asList(attributes)));
        return new Value(name, sizes);
    }

    /** Adds an output. */
    Value output(String name, Value value) {
        String own = unique(name);
        if (!own.equals(name)) {
            throw new IllegalStateException("two outputs are named " + name);
        }
        content.nodes.add(new OnnxProto.Node(name + "/Identity", "Identity", List.of(value.name()), name, List.of()));
        return new Value(name, value.sizes());
    }

    /** Adds a parameter. */
    Value parameter(Parameter parameter) {
        Tensor tensor = parameter.value();
        if (tensor.type() != DType.F32) {
            throw new IllegalArgumentException("expected weights in float32, found " + parameter);
        }
        // Two parts may have parameters of one name.
        return content.parameters.computeIfAbsent(root() + parameter.name(), name -> {
            List<Long> sizes = Arrays.stream(tensor.shape().sizes()).boxed().toList();
            boolean readable = tensor.device().equals(Device.CPU) && tensor.isContiguous();
            return readable
                    ? add(new OnnxProto.Tensor(unique(name), OnnxProto.ElementType.FLOAT, sizes, tensor.data()))
                    : add(OnnxProto.Tensor.of(unique(name), sizes, tensor.toFloats()));
        });
    }

    private String root() {
        int end = part.indexOf('/');
        return part.isEmpty() ? "" : (end < 0 ? part : part.substring(0, end)) + ".";
    }

    /** Adds a constant. */
    Value constant(String name, List<Long> sizes, double... values) {
        return add(OnnxProto.Tensor.of(unique(part + "/" + name), sizes, single(values)));
    }

    private static float[] single(double[] values) {
        float[] single = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            single[i] = (float) values[i];
        }
        return single;
    }

    /** Adds a scalar, once. */
    Value number(double value) {
        return shared("number/" + (float) value, List.of(), () -> new double[] {value});
    }

    /** Adds a constant once per name. */
    Value shared(String name, List<Long> sizes, Supplier<double[]> values) {
        return content.shared.computeIfAbsent(
                name, _ -> add(OnnxProto.Tensor.of(unique(name), sizes, single(values.get()))));
    }

    /** Adds integers: axes, sizes, indexes. */
    Value wholes(String name, long... values) {
        return add(OnnxProto.Tensor.of(unique(part + "/" + name), values));
    }

    private Value add(OnnxProto.Tensor constant) {
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
