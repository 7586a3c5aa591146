package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;

/**
 * Replaces groups of operators by single ones that native networks use too.
 *
 * <ul>
 *   <li>convolution, batch norm and activation; sum and activation
 *   <li>{@code x·sigmoid(x)}: SiLU; {@code x·clip(x + 3, 0, 6)/6}: hard swish
 *   <li>{@code x·(1 + erf(x/√2))/2}: GELU
 *   <li>{@code (x − mean)/√(mean((x − mean)²) + ε)·γ + β}: layer norm
 *   <li>product with a weight and sum with a bias: linear layer
 *   <li>{@code softmax(q·kᵀ·scale)·v}: attention
 * </ul>
 *
 * <p>A group is replaced only if nothing else uses its inner tensors, so that the values of all others are unchanged.
 */
final class Fusion {
    /** Start of the names of fused operators, which no file has. */
    static final String PREFIX = "Fused";

    /** Convolution with inputs {@code x, weight, bias, γ, β, mean, variance}; bias or norm may be absent. */
    static final String CONV = PREFIX + "Conv";

    static final String ADD = PREFIX + "Add";
    static final String SILU = PREFIX + "Silu";
    static final String LINEAR = PREFIX + "Linear";
    static final String ATTENTION = PREFIX + "Attention";

    /** Absence of a node: it has no inputs, and its type is empty. */
    private static final OnnxNode NONE = new OnnxNode("", "", List.of(), List.of(""), Map.of());

    private final OnnxGraph graph;
    private final Map<String, OnnxNode> makers = new HashMap<>();
    private final Map<String, Integer> uses = new HashMap<>();
    private final Set<OnnxNode> gone = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<OnnxNode> nodes;

    private Fusion(OnnxGraph graph) {
        this.graph = graph;
        this.nodes = new ArrayList<>(graph.nodes());
        for (OnnxNode node : nodes) {
            node.outputs().forEach(output -> makers.put(output, node));
            node.inputs().forEach(input -> uses.merge(input, 1, Integer::sum));
        }
        uses.merge(graph.output(), 1, Integer::sum);
    }

    /** Returns the nodes of a graph with fused operators, in topological order. */
    static List<OnnxNode> fused(OnnxGraph graph) {
        Fusion fusion = new Fusion(graph);
        fusion.removeIdentities();
        for (int i = 0; i < fusion.nodes.size(); i++) {
            OnnxNode node = fusion.nodes.get(i);
            OnnxNode found = fusion.group(node);
            // a fused node may be the end of another group, e.g. a convolution with its norm before an activation
            while (!isNone(found)) {
                fusion.put(i, found);
                found = fusion.group(found);
            }
        }
        fusion.nodes.removeIf(fusion.gone::contains);
        return List.copyOf(fusion.nodes);
    }

    /** Returns the activation of a fused operator. */
    static Activation activation(OnnxNode node) {
        return Activation.valueOf(node.text("activation", Activation.NONE.name()));
    }

    /** Returns the activation that clips to a range, or none. */
    static Activation clamp(double low, double high) {
        if (low == 0 && high == 6) {
            return Activation.RELU6;
        }
        return low == 0 && high == Double.POSITIVE_INFINITY ? Activation.RELU : Activation.NONE;
    }

    private void put(int index, OnnxNode node) {
        nodes.set(index, node);
        makers.put(node.output(), node);
    }

    /** Lets the users of Identity, Dropout and casts read their input. */
    private void removeIdentities() {
        Map<String, String> sources = new HashMap<>();
        for (int i = 0; i < nodes.size(); i++) {
            OnnxNode node = nodes.get(i);
            List<String> inputs = node.inputs().stream()
                    .map(name -> sources.getOrDefault(name, name))
                    .toList();
            OnnxNode renamed = node.withInputs(inputs);
            nodes.set(i, renamed);
            node.outputs().forEach(output -> makers.put(output, renamed));
            boolean identity =
                    node.operator().equals("Identity") || node.operator().equals("Dropout");
            if (identity && !node.output().equals(graph.output())) {
                sources.put(node.output(), inputs.getFirst());
                uses.merge(inputs.getFirst(), uses.getOrDefault(node.output(), 0) - 1, Integer::sum);
                gone.add(renamed);
            }
        }
    }

    /** Returns the operator that replaces a group which ends with a node, or {@link #NONE}. */
    private OnnxNode group(OnnxNode end) {
        return switch (end.operator()) {
            case "BatchNormalization" -> convolutionAndNorm(end);
            case "Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", SILU -> activated(end);
            case "Mul" -> first(end, this::silu, this::gelu, this::hardSwish);
            case "Div" -> first(end, this::hardSwish, this::hardSigmoid);
            case "Add" -> first(end, this::layerNorm, this::linear);
            case "MatMul" -> attention(end);
            default -> NONE;
        };
    }

    @SafeVarargs
    private static OnnxNode first(OnnxNode end, UnaryOperator<OnnxNode>... rules) {
        for (UnaryOperator<OnnxNode> rule : rules) {
            OnnxNode found = rule.apply(end);
            if (!isNone(found)) {
                return found;
            }
        }
        return NONE;
    }

    private static boolean isNone(OnnxNode node) {
        return node.operator().isEmpty();
    }

    /** Returns an input, or an empty name. */
    private static String in(OnnxNode node, int i) {
        return i < node.inputs().size() ? node.inputs().get(i) : "";
    }

    /** Returns the operator of a tensor, or {@link #NONE} if it has another type. */
    private OnnxNode maker(String tensor, String... operators) {
        OnnxNode maker = makers.getOrDefault(tensor, NONE);
        return List.of(operators).contains(maker.operator()) ? maker : NONE;
    }

    /** Returns the operator of a tensor that only one node uses, or {@link #NONE}. */
    private OnnxNode inner(String tensor, String... operators) {
        return uses.getOrDefault(tensor, 0) == 1 ? maker(tensor, operators) : NONE;
    }

    /** Returns the number of a constant of one element, or NaN. */
    private double number(String tensor) {
        Object value = graph.constants().get(tensor);
        OnnxNode maker = maker(tensor, "Constant");
        if (value == null && !isNone(maker)) {
            value = maker.attributes().values().iterator().next();
        }
        return value instanceof HostTensor constant && constant.values().length == 1
                ? constant.values()[0]
                : Double.NaN;
    }

    private static boolean near(double a, double b) {
        return Math.abs(a - b) <= 1e-4 * Math.abs(b);
    }

    /** Returns the other input of a node of two inputs. */
    private static String other(OnnxNode node, String tensor) {
        return in(node, 0).equals(tensor) ? in(node, 1) : in(node, 0);
    }

    /** Returns the input of a node of two inputs whose other input is a number, or an empty name. */
    private String with(OnnxNode node, double value) {
        if (near(number(in(node, 1)), value)) {
            return in(node, 0);
        }
        boolean commutes = node.operator().equals("Add") || node.operator().equals("Mul");
        return commutes && near(number(in(node, 0)), value) ? in(node, 1) : "";
    }

    private OnnxNode replace(OnnxNode end, String operator, List<String> inputs, OnnxNode... inner) {
        return replace(end, operator, inputs, Map.of(), List.of(inner));
    }

    private OnnxNode replace(
            OnnxNode end, String operator, List<String> inputs, Map<String, Object> attributes, List<OnnxNode> inner) {
        gone.addAll(inner);
        for (OnnxNode node : inner) {
            node.inputs().forEach(input -> uses.merge(input, -1, Integer::sum));
        }
        end.inputs().forEach(input -> uses.merge(input, -1, Integer::sum));
        inputs.forEach(input -> uses.merge(input, 1, Integer::sum));
        return new OnnxNode(end.name(), operator, inputs, end.outputs().subList(0, 1), attributes);
    }

    private OnnxNode convolutionAndNorm(OnnxNode norm) {
        OnnxNode conv = inner(in(norm, 0), "Conv");
        if (rank(in(conv, 1)) != 4 || conv.has(2) || norm.inputs().size() != 5) {
            return NONE;
        }
        List<String> inputs = new ArrayList<>(conv.inputs().subList(0, 2));
        inputs.add("");
        inputs.addAll(norm.inputs().subList(1, 5));
        Map<String, Object> attributes = new HashMap<>(conv.attributes());
        attributes.put("epsilon", HostTensor.number(norm.number("epsilon", 1e-5)));
        return replace(norm, CONV, inputs, attributes, List.of(conv));
    }

    private int rank(String weight) {
        return graph.weights().getOrDefault(weight, Shape.of()).rank();
    }

    private OnnxNode activated(OnnxNode end) {
        Activation activation = kind(end);
        OnnxNode node = inner(in(end, 0), "Conv", CONV, "Add");
        if (activation == Activation.NONE || isNone(node) || activation(node) != Activation.NONE) {
            return NONE;
        }
        boolean sum = node.operator().equals("Add");
        if (sum && (activation != Activation.RELU || !makers.keySet().containsAll(node.inputs()))) {
            return NONE;
        }
        Map<String, Object> attributes = new HashMap<>(node.attributes());
        attributes.put("activation", activation.name());
        return replace(end, sum ? ADD : CONV, node.inputs(), attributes, List.of(node));
    }

    private Activation kind(OnnxNode node) {
        return switch (node.operator()) {
            case "Relu" -> Activation.RELU;
            case "Sigmoid" -> Activation.SIGMOID;
            case "HardSwish" -> Activation.HARD_SWISH;
            case SILU -> Activation.SILU;
            case "HardSigmoid" -> isStandard(node) ? Activation.HARD_SIGMOID : Activation.NONE;
            default -> clamp(bound(node, 1, Double.NEGATIVE_INFINITY), bound(node, 2, Double.POSITIVE_INFINITY));
        };
    }

    private static boolean isStandard(OnnxNode hardSigmoid) {
        return near(hardSigmoid.number("alpha", 0.2), 1 / 6.0) && near(hardSigmoid.number("beta", 0.5), 0.5);
    }

    private double bound(OnnxNode clip, int input, double defaultValue) {
        return clip.has(input) ? number(in(clip, input)) : defaultValue;
    }

    /** {@code x·sigmoid(x)} or {@code x·hardsigmoid(x)}. */
    private OnnxNode silu(OnnxNode mul) {
        for (String input : mul.inputs()) {
            OnnxNode gate = inner(input, "Sigmoid", "HardSigmoid");
            boolean soft = gate.operator().equals("Sigmoid");
            if (!isNone(gate) && in(gate, 0).equals(other(mul, input)) && (soft || isStandard(gate))) {
                return replace(mul, soft ? SILU : "HardSwish", List.of(in(gate, 0)), gate);
            }
        }
        return NONE;
    }

    /** {@code x·clip(x + 3, 0, 6)/6}, divided or multiplied at the end. */
    private OnnxNode hardSwish(OnnxNode end) {
        OnnxNode mul = inner(with(end, end.operator().equals("Div") ? 6 : 1 / 6.0), "Mul");
        for (String input : mul.inputs()) {
            OnnxNode clip = inner(input, "Clip");
            String x = hardGate(clip);
            if (!x.isEmpty() && x.equals(other(mul, input))) {
                return replace(end, "HardSwish", List.of(x), mul, clip, maker(in(clip, 0), "Add"));
            }
        }
        return NONE;
    }

    /** {@code clip(x + 3, 0, 6)/6}. */
    private OnnxNode hardSigmoid(OnnxNode end) {
        OnnxNode clip = inner(with(end, 6), "Clip");
        String x = hardGate(clip);
        Map<String, Object> attributes = Map.of("alpha", HostTensor.number(1 / 6.0), "beta", HostTensor.number(0.5));
        List<OnnxNode> inner = List.of(clip, maker(in(clip, 0), "Add"));
        return x.isEmpty() ? NONE : replace(end, "HardSigmoid", List.of(x), attributes, inner);
    }

    /** Returns x of {@code clip(x + 3, 0, 6)}, or an empty name. */
    private String hardGate(OnnxNode clip) {
        boolean to6 = clamp(number(in(clip, 1)), number(in(clip, 2))) == Activation.RELU6;
        return to6 ? with(inner(in(clip, 0), "Add"), 3) : "";
    }

    /** {@code x·(1 + erf(x/√2))·½}, with the half at the end or at x. */
    private OnnxNode gelu(OnnxNode end) {
        String product = with(end, 0.5);
        OnnxNode mul = product.isEmpty() ? end : inner(product, "Mul");
        for (String input : mul.inputs()) {
            OnnxNode add = inner(input, "Add");
            OnnxNode erf = inner(with(add, 1), "Erf");
            OnnxNode scaled = inner(in(erf, 0), "Div", "Mul");
            String x = with(scaled, scaled.operator().equals("Div") ? Math.sqrt(2) : Math.sqrt(0.5));
            String factor = other(mul, input);
            if (x.isEmpty()) {
                continue;
            }
            if (!product.isEmpty() && factor.equals(x)) {
                return replace(end, "Gelu", List.of(x), mul, add, erf, scaled);
            }
            OnnxNode half = inner(factor, "Mul");
            if (product.isEmpty() && with(half, 0.5).equals(x)) {
                return replace(end, "Gelu", List.of(x), half, add, erf, scaled);
            }
        }
        return NONE;
    }

    /** {@code (x − mean)/√(mean((x − mean)²) + ε)·γ + β} over the last dimension. */
    private OnnxNode layerNorm(OnnxNode end) {
        for (String product : end.inputs()) {
            OnnxNode scaled = inner(product, "Mul");
            for (String normal : scaled.inputs()) {
                OnnxNode div = inner(normal, "Div");
                OnnxNode sub = maker(in(div, 0), "Sub");
                OnnxNode root = inner(in(div, 1), "Sqrt");
                OnnxNode add = inner(in(root, 0), "Add");
                boolean second = !Double.isNaN(number(in(add, 1)));
                OnnxNode variance = inner(in(add, second ? 0 : 1), "ReduceMean");
                OnnxNode square = inner(in(variance, 0), "Pow", "Mul");
                OnnxNode mean = inner(in(sub, 1), "ReduceMean");
                String gamma = other(scaled, normal);
                String beta = other(end, product);
                boolean fits = isSquare(square, in(div, 0))
                        && isLast(mean)
                        && isLast(variance)
                        && in(sub, 0).equals(in(mean, 0))
                        && rank(gamma) == 1
                        && rank(beta) == 1;
                if (fits) {
                    double epsilon = number(in(add, second ? 1 : 0));
                    return replace(
                            end,
                            "LayerNormalization",
                            List.of(in(mean, 0), gamma, beta),
                            Map.of("epsilon", HostTensor.number(epsilon)),
                            List.of(scaled, div, root, add, variance, square, sub, mean));
                }
            }
        }
        return NONE;
    }

    /** Returns whether a node squares a tensor that only it and one other node use. */
    private boolean isSquare(OnnxNode square, String tensor) {
        boolean power = square.operator().equals("Pow");
        return !isNone(square)
                && in(square, 0).equals(tensor)
                && (power ? number(in(square, 1)) == 2 : in(square, 1).equals(tensor))
                && uses.getOrDefault(tensor, 0) == (power ? 2 : 3);
    }

    /** Returns whether a mean is over the last dimension, whatever the rank. */
    private boolean isLast(OnnxNode mean) {
        return number(in(mean, 1)) == -1 && mean.integer("keepdims", 1) == 1;
    }

    /** {@code x·W + b} with weights. */
    private OnnxNode linear(OnnxNode add) {
        for (String input : add.inputs()) {
            OnnxNode product = inner(input, "MatMul");
            String bias = other(add, input);
            if (rank(in(product, 1)) == 2 && rank(bias) == 1) {
                return replace(add, LINEAR, List.of(in(product, 0), in(product, 1), bias), product);
            }
        }
        return NONE;
    }

    /** {@code softmax(q·kᵀ·scale)·v}, with the scale at the product or at q. */
    private OnnxNode attention(OnnxNode end) {
        OnnxNode softmax = inner(in(end, 0), "Softmax");
        OnnxNode scaled = inner(in(softmax, 0), "Mul", "Div");
        double number = isNone(scaled) ? 1 : number(in(scaled, 1));
        double factor = scaled.operator().equals("Div") ? 1 / number : number;
        OnnxNode product = inner(isNone(scaled) ? in(softmax, 0) : in(scaled, 0), "MatMul");
        OnnxNode keys = inner(in(product, 1), "Transpose");
        boolean last = softmax.integer("axis", graph.opset() < 13 ? 1 : -1) == -1;
        if (isNone(keys) || !last || Double.isNaN(factor)) {
            return NONE;
        }
        List<OnnxNode> inner = new ArrayList<>(List.of(softmax, product));
        if (!isNone(scaled)) {
            inner.add(scaled);
        }
        OnnxNode query = inner(in(product, 0), "Mul", "Div");
        double atQuery = isNone(query) ? Double.NaN : number(in(query, 1));
        if (Double.isNaN(atQuery)) {
            return attention(end, in(product, 0), keys, factor, inner);
        }
        inner.add(query);
        double both = factor * (query.operator().equals("Div") ? 1 / atQuery : atQuery);
        return attention(end, in(query, 0), keys, both, inner);
    }

    /** Takes the transpose of the last two dimensions away from the keys, or adds one to the tensor before it. */
    private OnnxNode attention(OnnxNode end, String query, OnnxNode keys, double factor, List<OnnxNode> inner) {
        long[] order = keys.integers("perm");
        int rank = order.length;
        boolean lastTwo = rank >= 3 && order[rank - 1] == rank - 2 && order[rank - 2] == rank - 1;
        for (int i = 0; i < rank - 2; i++) {
            lastTwo &= order[i] == i;
        }
        if (!lastTwo && rank != 3 && rank != 4) {
            return NONE;
        }
        if (lastTwo) {
            inner.add(keys);
        } else {
            long[] changed = order.clone(); // keys [n, h, e, t] become [n, h, t, e]
            changed[rank - 1] = order[rank - 2];
            changed[rank - 2] = order[rank - 1];
            Map<String, Object> permutation = Map.of("perm", HostTensor.of(changed));
            put(
                    nodes.indexOf(keys),
                    new OnnxNode(keys.name(), "Transpose", keys.inputs(), keys.outputs(), permutation));
        }
        String key = lastTwo ? keys.inputs().getFirst() : keys.output();
        Map<String, Object> scale = Map.of("scale", HostTensor.number(factor));
        return replace(end, ATTENTION, List.of(query, key, end.inputs().get(1)), scale, inner);
    }
}
