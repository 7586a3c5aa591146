package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.backbone.onnx.Layout.Kind;
import org.gramian.backbone.onnx.Segment.Crossing;
import org.gramian.backbone.onnx.Segment.Ends;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a graph into segments.
 *
 * <p>A cut is a tensor on every path from the images to the output, whose shape is that of feature maps, tokens or
 * vectors. In a topological order it is the only tensor computed so far that is still needed. Constants that earlier
 * nodes compute from sizes may cross a cut if they depend on the number of images only.
 */
public final class Segments {
    /** Default size of images, where the file does not fix it. */
    public static final int DEFAULT_SIZE = 224;

    private static final int MAX_PREFIX = 16;

    /** Largest tensor for one image: 1 GiB in float32. */
    private static final long MAX_ELEMENTS = 1 << 28;

    /** Number of images for which shapes are looked at: a prime, so that the dimension of the images is recognized. */
    static final int IMAGES = 13;

    private final OnnxGraph graph;
    private final List<OnnxNode> nodes;
    private final AtomicLong folded = new AtomicLong();
    private final Plan plan;
    private final @Nullable Plan other;
    private final Plan one;
    private final Map<String, Integer> lastUse = new HashMap<>();
    private final Map<String, Integer> made = new HashMap<>();
    private final NavigableSet<Integer> convolutions = new TreeSet<>();

    private Segments(OnnxGraph graph) {
        this.graph = graph;
        this.nodes = Fusion.fused(graph);
        long height = graph.input().size(2, DEFAULT_SIZE);
        long width = graph.input().size(3, DEFAULT_SIZE);
        this.plan = whole(IMAGES, height, width);
        this.one = whole(1, height, width);
        if (one.largest() > MAX_ELEMENTS) {
            throw new IllegalArgumentException("expected tensors of at most " + MAX_ELEMENTS
                    + " elements for an image of " + height + "×" + width + ", found " + one.largest());
        }
        boolean dynamic =
                graph.input().sizes().get(2) < 0 || graph.input().sizes().get(3) < 0;
        this.other = dynamic
                ? attempt(
                        graph.input().size(2, DEFAULT_SIZE + 64), graph.input().size(3, DEFAULT_SIZE + 32))
                : null;
        for (int i = 0; i < nodes.size(); i++) {
            if (isConvolution(nodes.get(i))) {
                convolutions.add(i);
            }
            for (String output : nodes.get(i).outputs()) {
                made.put(output, i);
            }
            for (String input : nodes.get(i).inputs()) {
                lastUse.put(input, i);
            }
        }
        lastUse.put(graph.output(), nodes.size());
    }

    private Plan whole(long images, long height, long width) {
        return new Plan(
                graph,
                nodes,
                graph.input().name(),
                graph.output(),
                Map.of(),
                Shape.of(images, 3, height, width),
                folded);
    }

    private @Nullable Plan attempt(long height, long width) {
        try {
            return whole(IMAGES, height, width);
        } catch (IllegalArgumentException fixed) {
            return null;
        }
    }

    /**
     * Cuts a graph.
     *
     * @return segments from the images to the output
     */
    public static List<Segment> of(OnnxGraph graph) {
        return new Segments(graph).segments();
    }

    /** Returns the rows and columns of the images that a file is made for, or the default size. */
    public static int size(OnnxGraph graph) {
        return (int) Math.min(graph.input().size(2, DEFAULT_SIZE), 1 << 14);
    }

    private List<Segment> segments() {
        plan.output();
        Map<String, String> names = new HashMap<>();
        LayerNames.of(graph).forEach((name, tensor) -> names.put(tensor, name));
        List<Segment> segments = new ArrayList<>();
        Set<String> named = new HashSet<>();
        Map<String, Role> roles = roles();
        String input = graph.input().name();
        Layout entering = Layout.MAPS;
        int start = 0;
        for (int end : cuts()) {
            String output = nodes.get(end).output();
            Cut cut = cut(end).orElseThrow(
                            () -> new IllegalArgumentException("expected feature maps [n, c, h, w], tokens"
                                    + " [n, t, d] or a vector [n, d] as the output '" + output + "', found "
                                    + plan.output().shape() + "; cut the network at another tensor"));
            boolean inside = cut.grid != null && made.getOrDefault(cut.grid, -1) >= start;
            Ends ends = new Ends(
                    names.getOrDefault(output, output),
                    input,
                    entering,
                    output,
                    cut.layout,
                    cut.channels,
                    inside ? cut.grid : null);
            Map<String, Crossing> crossings = new LinkedHashMap<>();
            List<OnnxNode> own = ancestors(start, end, crossings);
            List<ParameterSpec> parameters = new ArrayList<>();
            for (OnnxNode node : own) {
                for (String name : node.inputs()) {
                    if (graph.weights().containsKey(name) && named.add(name)) {
                        parameters.add(spec(name, roles.getOrDefault(name, Role.BIAS)));
                    }
                }
            }
            segments.add(new Segment(ends, graph, own, crossings, parameters));
            input = output;
            entering = cut.layout;
            start = end + 1;
        }
        return segments;
    }

    /**
     * Returns the roles of weights, from the first operators that use them.
     *
     * <p>Filters and matrices decay. Biases, scales, offsets, class tokens and position embeddings are trained without
     * decay. Statistics of batch norms are fixed, and so are constants of formulas: tensors that PyTorch's exporter
     * computed itself ({@code onnx::…}) and that are added or multiplied, such as masks.
     */
    private Map<String, Role> roles() {
        Map<String, Role> roles = new HashMap<>();
        for (OnnxNode node : nodes) {
            for (int i = 0; i < node.inputs().size(); i++) {
                roles.putIfAbsent(node.inputs().get(i), role(node, i));
            }
        }
        return roles;
    }

    private static Role role(OnnxNode node, int input) {
        return switch (node.operator()) {
            case "Conv", Fusion.CONV, "Gemm", "MatMul", Fusion.LINEAR ->
                input <= 1 ? Role.WEIGHT : input <= 4 ? Role.BIAS : Role.FITTED;
            case "BatchNormalization" -> input > 2 ? Role.FITTED : Role.BIAS;
            case "LayerNormalization" -> Role.BIAS;
            default -> node.inputs().get(input).startsWith("onnx::") ? Role.FITTED : Role.BIAS;
        };
    }

    /** Returns the specification of a weight; its value comes from the file. */
    private ParameterSpec spec(String name, Role role) {
        Shape shape = graph.weights().getOrDefault(name, Shape.of());
        Initializer initial = role == Role.WEIGHT && shape.rank() > 1 ? Initializer.he() : Initializer.constant(1);
        return new ParameterSpec(name, shape, role, initial);
    }

    /** Returns the indexes of the nodes whose output is a cut; the last one is the output. */
    private List<Integer> cuts() {
        int last = made.getOrDefault(graph.output(), nodes.size() - 1);
        List<Integer> cuts = new ArrayList<>();
        Set<String> live = new HashSet<>();
        for (int i = 0; i < last; i++) {
            OnnxNode node = nodes.get(i);
            for (String output : node.outputs()) {
                if (lastUse.getOrDefault(output, -1) > i && blocks(output)) {
                    live.add(output);
                }
            }
            int now = i;
            node.inputs().stream()
                    .filter(tensor -> lastUse.getOrDefault(tensor, -1) <= now)
                    .forEach(live::remove);
            boolean image = lastUse.getOrDefault(graph.input().name(), -1) > i;
            boolean alone = !image && live.size() == 1 && live.contains(node.output());
            if (alone && cut(i).isPresent()) {
                cuts.add(i);
            }
        }
        cuts.add(last);
        return cuts;
    }

    /** Returns whether a tensor must not cross a cut: data, and constants that depend on the size of the images. */
    private boolean blocks(String tensor) {
        Operand operand = plan.get(tensor);
        if (operand == null || operand.constant() == null) {
            return operand != null && operand.data();
        }
        Operand elsewhere = other == null ? operand : other.get(tensor);
        Operand single = one.get(tensor);
        return elsewhere == null
                || single == null
                || !operand.constant().equals(elsewhere.constant())
                || !operand.shape().equals(single.shape());
    }

    /**
     * Feature maps at a cut.
     *
     * @param grid tensor with the rows and columns of tokens
     */
    private record Cut(
            Layout layout, long channels, @Nullable String grid) {}

    private Optional<Cut> cut(int index) {
        String tensor = nodes.get(index).output();
        Operand operand = plan.get(tensor);
        if (operand == null || operand.batch() != 0 || operand.outer() != 1) {
            return Optional.empty();
        }
        return switch (operand.rank()) {
            case 2 -> Optional.of(new Cut(new Layout(Kind.VECTOR, 0), operand.size(1), null));
            case 3 -> tokens(index, operand);
            case 4 -> {
                boolean last = channelsLast(tensor, operand.shape());
                yield Optional.of(new Cut(
                        last ? new Layout(Kind.CHANNELS_LAST, 0) : Layout.MAPS, operand.size(last ? 3 : 1), null));
            }
            default -> Optional.empty();
        };
    }

    /** Returns whether the dimensions that follow the image size, or are equal, are the second and third. */
    private boolean channelsLast(String tensor, Shape shape) {
        Operand elsewhere = other == null ? null : other.get(tensor);
        if (elsewhere != null && elsewhere.rank() == 4 && !elsewhere.shape().equals(shape)) {
            return elsewhere.size(3) == shape.at(3) && elsewhere.size(1) != shape.at(1);
        }
        return shape.at(2) != shape.at(3) && shape.at(1) == shape.at(2);
    }

    /** Recognizes tokens by the last feature maps before them with about as many positions. */
    private Optional<Cut> tokens(int index, Operand operand) {
        Integer before = convolutions.floor(index);
        String name = before == null ? "" : nodes.get(before).output();
        Operand maps = plan.get(name);
        if (maps == null) {
            return Optional.empty();
        }
        long prefix = operand.size(1) - maps.size(2) * maps.size(3);
        return prefix >= 0 && prefix <= MAX_PREFIX
                ? Optional.of(new Cut(new Layout(Kind.TOKENS, (int) prefix), operand.size(2), name))
                : Optional.empty();
    }

    private boolean isConvolution(OnnxNode node) {
        Operand maps = plan.get(node.output());
        return node.operator().contains("Conv") && maps != null && maps.rank() == 4 && maps.batch() == 0;
    }

    /**
     * Returns the nodes that compute the output of a segment, in topological order: those between the cuts, and earlier
     * ones that need no data.
     */
    private List<OnnxNode> ancestors(int start, int end, Map<String, Crossing> crossings) {
        NavigableSet<Integer> needed = new TreeSet<>(Set.of(end));
        for (Integer next = end; next != null; next = needed.lower(next)) {
            for (String name : nodes.get(next).inputs()) {
                Integer maker = made.get(name);
                Operand operand = plan.get(name);
                if (maker == null || operand == null) {
                    continue;
                }
                if (operand.constant() != null && maker < start) {
                    HostTensor many = operand.constant();
                    Operand first = one.get(name);
                    HostTensor single = first == null || first.constant() == null ? many : first.constant();
                    crossings.put(name, new Crossing(single, many));
                } else if (!operand.data() || maker >= start) {
                    needed.add(maker);
                }
            }
        }
        return needed.stream().map(nodes::get).toList();
    }

    /**
     * Short names of tensors, to be typed as layers.
     *
     * <p>PyTorch names tensors by module and operator, {@code /layer1/layer1.0/relu_1/Relu_output_0}. The slashes become
     * dots, a module that the next one repeats is dropped, and so is the operator if its module has no other one after {@link
     * Fusion}: {@code layer1.0.relu_1}. Of several, as in {@code /encoder/block/Add_1_output_0}, the operator stays in lower case:
     * {@code encoder.block.add_1}. A number, the name that older exporters give, is preceded by the operator: {@code
     * relu_489}. Other characters than letters, digits, {@code .}, {@code -} and {@code _} become {@code _}; equal names are
     * numbered.
     */
    static final class LayerNames {
        private static final Pattern SUFFIX = Pattern.compile("(_output_\\d+|:\\d+)$");
        private static final Pattern OTHER = Pattern.compile("[^A-Za-z0-9_.-]");
        private static final Pattern NUMBER = Pattern.compile("[0-9.]+");

        private LayerNames() {}

        /** Returns the names of tensors in the file by short name, in the order of the graph. */
        static SequencedMap<String, String> of(OnnxGraph graph) {
            Map<String, Integer> modules = new HashMap<>();
            Set<String> kept = new HashSet<>();
            for (OnnxNode node : Fusion.fused(graph)) {
                for (String tensor : node.outputs()) {
                    List<String> parts = parts(tensor);
                    modules.merge(String.join(".", parts.subList(0, parts.size() - 1)), 1, Integer::sum);
                    kept.add(tensor);
                }
            }
            SequencedMap<String, String> tensors = new LinkedHashMap<>();
            Map<String, Integer> numbers = new HashMap<>(); // of the last equal name
            for (OnnxNode node : graph.nodes()) {
                for (String tensor : node.outputs()) {
                    String wanted = tidy(tensor, node.operator(), kept.contains(tensor) ? modules : Map.of());
                    String name = wanted;
                    while (tensors.containsKey(name)) {
                        name = wanted + "_" + (numbers.merge(wanted, 1, Integer::sum) + 1);
                    }
                    tensors.put(name, tensor);
                }
            }
            return tensors;
        }

        private static String tidy(String tensor, String operator, Map<String, Integer> modules) {
            List<String> parts = parts(tensor);
            String module = String.join(".", parts.subList(0, parts.size() - 1));
            String last = parts.getLast();
            String name;
            if (module.isEmpty()) {
                String lower = last.startsWith(operator) ? last.toLowerCase(Locale.ROOT) : last;
                name = NUMBER.matcher(last).matches() ? operator.toLowerCase(Locale.ROOT) + "_" + last : lower;
            } else {
                name = modules.getOrDefault(module, 0) == 1 ? module : module + "." + last.toLowerCase(Locale.ROOT);
            }
            String typed = OTHER.matcher(name).replaceAll("_");
            return typed.isEmpty() ? operator.toLowerCase(Locale.ROOT) : typed;
        }

        private static List<String> parts(String tensor) {
            List<String> parts = new ArrayList<>();
            String[] all = SUFFIX.matcher(tensor).replaceFirst("").split("/", -1);
            for (int i = 0; i < all.length; i++) {
                boolean repeated = i + 1 < all.length && all[i + 1].startsWith(all[i] + ".");
                if (!all[i].isEmpty() && !repeated) {
                    parts.add(all[i]);
                }
            }
            return parts.isEmpty() ? List.of("") : parts;
        }
    }
}
