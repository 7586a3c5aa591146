package org.gramian.export.graph;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.stream.IntStream;
import org.gramian.tensor.DType;
import org.gramian.tensor.file.StoredTensor;

/** Parameters of a layer in host memory, in float32: libtorch is not needed to write a graph. */
record HostParameters(Graph graph, Map<String, StoredTensor> tensors, String prefix) {
    private static final ValueLayout.OfFloat NUMBER =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    HostParameters under(String layer) {
        return new HostParameters(graph, tensors, prefix + layer + ".");
    }

    StoredTensor get(String name) {
        StoredTensor tensor = tensors.get(prefix + name);
        if (tensor == null || tensor.type() != DType.F32) {
            throw new IllegalArgumentException("expected the parameter '" + prefix + name + "' in float32, found "
                    + (tensor == null ? "none" : tensor.type()));
        }
        return tensor;
    }

    /** Adds a parameter to the graph under its name in the model file, once. */
    Value value(String name) {
        StoredTensor tensor = get(name);
        return graph.parameter(prefix + name, tensor.shape(), tensor.data());
    }

    float[] toFloats(String name) {
        return get(name).data().toArray(NUMBER);
    }

    double[] toDoubles(String name) {
        float[] floats = toFloats(name);
        return IntStream.range(0, floats.length).mapToDouble(i -> floats[i]).toArray();
    }

    double item(String name) {
        return toFloats(name)[0];
    }
}
