package org.gramian.backbone.onnx;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.tensor.Shape;

/**
 * Roles of weights, from the operators that use them.
 *
 * <p>Filters and matrices decay. Biases, scales, offsets, class tokens and position embeddings are trained without
 * decay. Statistics of batch norms are fixed, and so are constants of formulas: tensors that PyTorch's exporter computed
 * itself ({@code onnx::…}) and that are added or multiplied, such as masks.
 */
final class Roles {
    private static final Set<String> PRODUCTS = Set.of("Conv", Fusion.CONV, "Gemm", "MatMul", Fusion.LINEAR);

    private final OnnxGraph graph;
    private final Map<String, Role> roles = new HashMap<>();

    Roles(OnnxGraph graph, List<OnnxNode> nodes) {
        this.graph = graph;
        for (OnnxNode node : nodes) {
            for (int i = 0; i < node.inputs().size(); i++) {
                if (graph.weights().containsKey(node.inputs().get(i))) {
                    roles.putIfAbsent(node.inputs().get(i), role(node, i));
                }
            }
        }
    }

    private static Role role(OnnxNode node, int input) {
        boolean norm = node.operator().equals("BatchNormalization");
        if ((norm && input > 2) || (node.operator().equals(Fusion.CONV) && input > 4)) {
            return Role.FITTED;
        }
        if (PRODUCTS.contains(node.operator())) {
            return input <= 1 ? Role.WEIGHT : Role.BIAS;
        }
        boolean formula = node.inputs().get(input).startsWith("onnx::")
                && !norm
                && !node.operator().equals("LayerNormalization");
        return formula ? Role.FITTED : Role.BIAS;
    }

    /** Returns the specification of a weight; its value comes from the file. */
    ParameterSpec spec(String name) {
        Shape shape = graph.weights().getOrDefault(name, Shape.of());
        Role role = roles.getOrDefault(name, Role.BIAS);
        Initializer initial = role == Role.WEIGHT && shape.rank() > 1 ? Initializer.he() : Initializer.constant(1);
        return new ParameterSpec(name, shape, role, initial);
    }
}
