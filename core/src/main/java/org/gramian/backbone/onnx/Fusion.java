package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * Replaces groups of operators by single ones that native networks use too: those of {@link #RULES}, attention, and
 * convolutions and sums with their batch norm and activation.
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

    /** Form of a group of operators, from its last one; sums and products match in either order. */
    private sealed interface Pattern {}

    /** A tensor, the same one wherever the name occurs: a weight of a rank, or any with rank 0. */
    private record Any(String name, int rank) implements Pattern {}

    private record Constant(double value) implements Pattern {}

    /** Any number, which becomes an attribute. */
    private record Attribute(String name) implements Pattern {}

    /**
     * An operator.
     *
     * @param name of its result if the group uses it several times, else empty
     */
    private record Op(String name, String operator, List<Pattern> inputs) implements Pattern {}

    private record OneOf(List<Pattern> patterns) implements Pattern {}

    private static Pattern op(String operator, Pattern... inputs) {
        return new Op("", operator, List.of(inputs));
    }

    private static Pattern oneOf(Pattern... patterns) {
        return new OneOf(List.of(patterns));
    }

    private static Pattern any(String name) {
        return new Any(name, 0);
    }

    private static Pattern number(double value) {
        return new Constant(value);
    }

    private static Pattern scaled(Pattern x, double factor) {
        return oneOf(op("Mul", x, number(factor)), op("Div", x, number(1 / factor)));
    }

    /** A group whose tensors of these names are the inputs of an operator. */
    private record Rule(Pattern pattern, String operator, List<String> inputs, Map<String, Object> attributes) {
        Rule(Pattern pattern, String operator, String... inputs) {
            this(pattern, operator, List.of(inputs), Map.of());
        }
    }

    private static final Pattern X = any("x");
    private static final Pattern HARD_GATE = op("Clip", op("Add", X, number(3)), number(0), number(6));
    private static final Pattern ONE_PLUS_ERF = op("Add", op("Erf", scaled(X, Math.sqrt(0.5))), number(1));
    private static final Pattern CENTRED = new Op("centred", "Sub", List.of(X, op("ReduceMean", X, number(-1))));
    private static final Pattern SQUARE =
            oneOf(op("Pow", any("centred"), number(2)), op("Mul", any("centred"), any("centred")));
    private static final Pattern DEVIATION =
            op("Sqrt", op("Add", op("ReduceMean", SQUARE, number(-1)), new Attribute("epsilon")));

    private static final List<Rule> RULES = List.of(
            new Rule(op("Mul", X, op("Sigmoid", X)), SILU, "x"),
            new Rule(op("Mul", X, op("HardSigmoid", X)), "HardSwish", "x"),
            new Rule(op("Mul", op("Mul", X, ONE_PLUS_ERF), number(0.5)), "Gelu", "x"),
            new Rule(op("Mul", op("Mul", X, number(0.5)), ONE_PLUS_ERF), "Gelu", "x"),
            new Rule(scaled(op("Mul", X, HARD_GATE), 1 / 6.0), "HardSwish", "x"),
            new Rule(
                    op("Div", HARD_GATE, number(6)),
                    "HardSigmoid",
                    List.of("x"),
                    Map.of("alpha", HostTensor.number(1 / 6.0), "beta", HostTensor.number(0.5))),
            new Rule(
                    op("Add", op("Mul", op("Div", CENTRED, DEVIATION), new Any("gamma", 1)), new Any("beta", 1)),
                    "LayerNormalization",
                    "x",
                    "gamma",
                    "beta"),
            new Rule(
                    op("Add", op("MatMul", X, new Any("weight", 2)), new Any("bias", 1)),
                    LINEAR,
                    "x",
                    "weight",
                    "bias"));

    /** {@code softmax(q·kᵀ·scale)·v}, with the scale at the product, at q or at both. */
    private static final Pattern ATTENTION_PATTERN = op(
            "MatMul",
            op(
                    "Softmax",
                    scaled(op("MatMul", scaled(any("queries"), "query"), op("Transpose", any("keys"))), "product")),
            any("values"));

    private static Pattern scaled(Pattern x, String name) {
        return oneOf(op("Mul", x, new Attribute(name + "*")), op("Div", x, new Attribute(name + "/")), x);
    }

    /** What a pattern found: tensors and numbers by name, and the nodes, the last one first. */
    private record Match(Map<String, String> tensors, Map<String, Double> numbers, List<OnnxNode> nodes) {
        static final Match EMPTY = new Match(Map.of(), Map.of(), List.of());

        Match copy() {
            return new Match(new HashMap<>(tensors), new HashMap<>(numbers), new ArrayList<>(nodes));
        }

        @Nullable
        Match with(String name, String tensor) {
            Match match = copy();
            return tensor.equals(match.tensors.computeIfAbsent(name, _ -> tensor)) ? match : null;
        }

        double factor(String name) {
            return numbers.getOrDefault(name + "*", 1.0) / numbers.getOrDefault(name + "/", 1.0);
        }
    }

    private final OnnxGraph graph;
    private final Map<String, OnnxNode> makers = new HashMap<>();
    private final Map<String, Integer> uses = new HashMap<>();
    private final Map<String, Integer> indices = new HashMap<>();
    private final Set<OnnxNode> gone = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<OnnxNode> nodes;

    private Fusion(OnnxGraph graph) {
        this.graph = graph;
        this.nodes = new ArrayList<>(graph.nodes());
        for (int i = 0; i < nodes.size(); i++) {
            nodes.get(i).inputs().forEach(input -> uses.merge(input, 1, Integer::sum));
            indices.put(nodes.get(i).output(), i);
        }
        uses.merge(graph.output(), 1, Integer::sum);
    }

    /** Returns the nodes of a graph with fused operators, in topological order. */
    static List<OnnxNode> fused(OnnxGraph graph) {
        Fusion fusion = new Fusion(graph);
        fusion.removeIdentities();
        for (int i = 0; i < fusion.nodes.size(); i++) {
            OnnxNode found = fusion.group(fusion.nodes.get(i));
            // a fused node may be the end of another group, e.g. a convolution with its norm before an activation
            while (found != null) {
                fusion.put(i, found);
                found = fusion.group(found);
            }
        }
        fusion.nodes.removeIf(fusion.gone::contains);
        return List.copyOf(fusion.nodes);
    }

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
        node.outputs().forEach(output -> makers.put(output, node));
    }

    /** Lets the users of Identity and Dropout read their input. */
    private void removeIdentities() {
        Map<String, String> sources = new HashMap<>();
        for (int i = 0; i < nodes.size(); i++) {
            OnnxNode node = nodes.get(i);
            List<String> inputs = node.inputs().stream()
                    .map(name -> sources.getOrDefault(name, name))
                    .toList();
            OnnxNode renamed = node.withInputs(inputs);
            put(i, renamed);
            boolean identity =
                    node.operator().equals("Identity") || node.operator().equals("Dropout");
            if (identity && node.has(0) && !node.output().equals(graph.output())) {
                sources.put(node.output(), inputs.getFirst());
                uses.merge(inputs.getFirst(), uses.getOrDefault(node.output(), 0) - 1, Integer::sum);
                gone.add(renamed);
            }
        }
    }

    /** Returns the operator that replaces a group which ends with a node, or null. */
    private @Nullable OnnxNode group(OnnxNode end) {
        return switch (end.operator()) {
            case "BatchNormalization" -> convolutionAndNorm(end);
            case "Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", SILU -> activated(end);
            case "Mul", "Div", "Add" -> ruled(end);
            case "MatMul" -> attention(end);
            default -> null;
        };
    }

    private @Nullable OnnxNode ruled(OnnxNode end) {
        for (Rule rule : RULES) {
            Match match = match(rule.pattern, end);
            if (match != null) {
                List<String> inputs = rule.inputs.stream()
                        .map(name -> match.tensors.getOrDefault(name, ""))
                        .toList();
                Map<String, Object> attributes = new HashMap<>(rule.attributes);
                match.numbers.forEach((name, value) -> attributes.put(name, HostTensor.number(value)));
                return replace(match.nodes, rule.operator, inputs, attributes);
            }
        }
        return null;
    }

    /** Matches a group that ends with a node, and whose inner tensors nothing else uses. */
    private @Nullable Match match(Pattern pattern, OnnxNode end) {
        Match match = match(pattern, end.output(), Match.EMPTY);
        if (match == null) {
            return null;
        }
        for (OnnxNode node : match.nodes.subList(1, match.nodes.size())) {
            long inside = match.nodes.stream()
                    .flatMap(user -> user.inputs().stream())
                    .filter(node.output()::equals)
                    .count();
            if (uses.getOrDefault(node.output(), 0) != inside) {
                return null;
            }
        }
        return match;
    }

    private @Nullable Match match(Pattern pattern, String tensor, Match before) {
        return switch (pattern) {
            case Any any -> any.rank == 0 || rank(tensor) == any.rank ? before.with(any.name, tensor) : null;
            case Constant constant -> near(number(tensor), constant.value) ? before : null;
            case Attribute attribute -> {
                Match match = before.copy();
                match.numbers.put(attribute.name, number(tensor));
                yield Double.isNaN(number(tensor)) ? null : match;
            }
            case OneOf choice -> {
                for (Pattern each : choice.patterns) {
                    Match match = match(each, tensor, before);
                    if (match != null) {
                        yield match;
                    }
                }
                yield null;
            }
            case Op op -> {
                OnnxNode node = makers.get(tensor);
                boolean inner = before.nodes.isEmpty() || !op.name.isEmpty() || uses.getOrDefault(tensor, 0) == 1;
                yield node != null && inner && isPlain(node, op.operator) ? inputs(op, node, before) : null;
            }
        };
    }

    private @Nullable Match inputs(Op op, OnnxNode node, Match before) {
        boolean commutes = op.operator.equals("Add") || op.operator.equals("Mul");
        for (List<String> inputs :
                commutes ? List.of(node.inputs(), node.inputs().reversed()) : List.of(node.inputs())) {
            Match match = before.copy();
            match.nodes.add(node);
            match = op.name.isEmpty() ? match : match.with(op.name, node.output());
            for (int i = 0; match != null && i < op.inputs.size(); i++) {
                match = i < inputs.size() ? match(op.inputs.get(i), inputs.get(i), match) : null;
            }
            if (match != null) {
                return match;
            }
        }
        return null;
    }

    /** Returns whether a node has the attributes that patterns presuppose. */
    private boolean isPlain(OnnxNode node, String operator) {
        return node.operator().equals(operator)
                && switch (operator) {
                    case "ReduceMean" -> node.integer("keepdims", 1) == 1;
                    case "Softmax" -> node.integer("axis", graph.opset() < 13 ? 1 : -1) == -1;
                    case "HardSigmoid" ->
                        near(node.number("alpha", 0.2), 1 / 6.0) && near(node.number("beta", 0.5), 0.5);
                    default -> true;
                };
    }

    private int rank(String weight) {
        return graph.weights().getOrDefault(weight, Shape.of()).rank();
    }

    /** Returns the number of a constant of one element, or NaN. */
    private double number(String tensor) {
        Object value = graph.constants().get(tensor);
        OnnxNode maker = makers.get(tensor);
        if (value == null && maker != null && maker.operator().equals("Constant")) {
            value = maker.attributes().values().iterator().next();
        }
        return value instanceof HostTensor constant && constant.values().length == 1
                ? constant.values()[0]
                : Double.NaN;
    }

    private static boolean near(double a, double b) {
        return Math.abs(a - b) <= 1e-4 * Math.abs(b);
    }

    /** Replaces nodes, the last one first. */
    private OnnxNode replace(
            List<OnnxNode> group, String operator, List<String> inputs, Map<String, Object> attributes) {
        OnnxNode end = group.getFirst();
        gone.addAll(group.subList(1, group.size()));
        for (OnnxNode node : group) {
            node.inputs().forEach(input -> uses.merge(input, -1, Integer::sum));
        }
        inputs.forEach(input -> uses.merge(input, 1, Integer::sum));
        return new OnnxNode(end.name(), operator, inputs, end.outputs().subList(0, 1), attributes);
    }

    /** Returns the operator of the first input if nothing else uses that, or null. */
    private @Nullable OnnxNode before(OnnxNode node) {
        String tensor = node.has(0) ? node.inputs().getFirst() : "";
        return uses.getOrDefault(tensor, 0) == 1 ? makers.get(tensor) : null;
    }

    private @Nullable OnnxNode convolutionAndNorm(OnnxNode norm) {
        OnnxNode conv = before(norm);
        boolean fits = conv != null
                && conv.operator().equals("Conv")
                && conv.has(1)
                && rank(conv.inputs().get(1)) == 4
                && !conv.has(2)
                && norm.inputs().size() == 5;
        if (conv == null || !fits) {
            return null;
        }
        List<String> inputs = new ArrayList<>(conv.inputs().subList(0, 2));
        inputs.add("");
        inputs.addAll(norm.inputs().subList(1, 5));
        Map<String, Object> attributes = new HashMap<>(conv.attributes());
        attributes.put("epsilon", HostTensor.number(norm.number("epsilon", 1e-5)));
        return replace(List.of(norm, conv), CONV, inputs, attributes);
    }

    private @Nullable OnnxNode activated(OnnxNode end) {
        Activation activation = kind(end);
        OnnxNode node = before(end);
        if (activation == Activation.NONE || node == null || activation(node) != Activation.NONE) {
            return null;
        }
        boolean sum = node.operator().equals("Add")
                && activation == Activation.RELU
                && makers.keySet().containsAll(node.inputs());
        if (!sum && !node.operator().equals("Conv") && !node.operator().equals(CONV)) {
            return null;
        }
        Map<String, Object> attributes = new HashMap<>(node.attributes());
        attributes.put("activation", activation.name());
        return replace(List.of(end, node), sum ? ADD : CONV, node.inputs(), attributes);
    }

    private Activation kind(OnnxNode node) {
        return switch (node.operator()) {
            case "Relu" -> Activation.RELU;
            case "Sigmoid" -> Activation.SIGMOID;
            case "HardSwish" -> Activation.HARD_SWISH;
            case SILU -> Activation.SILU;
            case "HardSigmoid" -> isPlain(node, "HardSigmoid") ? Activation.HARD_SIGMOID : Activation.NONE;
            default -> clamp(bound(node, 1, Double.NEGATIVE_INFINITY), bound(node, 2, Double.POSITIVE_INFINITY));
        };
    }

    private double bound(OnnxNode clip, int input, double defaultValue) {
        return clip.has(input) ? number(clip.inputs().get(input)) : defaultValue;
    }

    /** Takes the transpose of the last two dimensions away from the keys, or adds one to the tensor before it. */
    private @Nullable OnnxNode attention(OnnxNode end) {
        Match match = match(ATTENTION_PATTERN, end);
        if (match == null) {
            return null;
        }
        List<OnnxNode> group = new ArrayList<>(match.nodes);
        OnnxNode keys = group.stream()
                .filter(node -> node.operator().equals("Transpose"))
                .findFirst()
                .orElseThrow();
        long[] order = keys.integers("perm");
        int rank = order.length;
        boolean lastTwo = rank >= 3 && order[rank - 1] == rank - 2 && order[rank - 2] == rank - 1;
        for (int i = 0; i < rank - 2; i++) {
            lastTwo &= order[i] == i;
        }
        if (!lastTwo && rank != 3 && rank != 4) {
            return null;
        }
        if (!lastTwo) {
            long[] changed = order.clone(); // keys [n, h, e, t] become [n, h, t, e]
            changed[rank - 1] = order[rank - 2];
            changed[rank - 2] = order[rank - 1];
            Map<String, Object> permutation = Map.of("perm", HostTensor.of(changed));
            group.remove(keys);
            put(
                    indices.getOrDefault(keys.output(), 0),
                    new OnnxNode(keys.name(), "Transpose", keys.inputs(), keys.outputs(), permutation));
        }
        double scale = match.factor("product") * match.factor("query");
        String key = lastTwo ? keys.inputs().getFirst() : keys.output();
        return replace(
                group,
                ATTENTION,
                List.of(match.tensors.getOrDefault("queries", ""), key, match.tensors.getOrDefault("values", "")),
                Map.of("scale", HostTensor.number(scale)));
    }
}
