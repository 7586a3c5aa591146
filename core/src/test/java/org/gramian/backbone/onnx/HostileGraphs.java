package org.gramian.backbone.onnx;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.gramian.basis.Protobuf.Writer;

/** Small ONNX files whose shapes and constants would compute for minutes, and files of random graphs. */
public final class HostileGraphs {
    private static final List<String> OPERATORS = List.of(
            ("Abs Add And AveragePool BatchNormalization Cast Ceil Clip Concat Constant ConstantOfShape Conv Div Dropout Equal Erf Exp"
                            + " Expand Flatten Floor Gather Gelu Gemm GlobalAveragePool Greater HardSigmoid HardSwish Identity"
                            + " LayerNormalization LeakyRelu Less Log LRN MatMul Max MaxPool Min Mod Mul Neg Not Or Pad Pow PRelu Range"
                            + " Reciprocal ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Relu Reshape Resize Shape"
                            + " Sigmoid Slice Softmax Split Sqrt Squeeze Sub Sum Tanh Tile Transpose Unsqueeze Upsample Where Loop If Nonsense")
                    .split(" ", -1));
    private static final List<String> ATTRIBUTES = List.of(
            "axis axes perm pads strides kernel_shape dilations group to keepdims ceil_mode start end allowzero shape size"
                    .split(" ", -1));
    private static final long[] EXTREMES = {
        0,
        1,
        2,
        3,
        4,
        -1,
        -2,
        7,
        16,
        64,
        255,
        1 << 12,
        1 << 20,
        1 << 30,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        Long.MAX_VALUE,
        Long.MIN_VALUE
    };

    private HostileGraphs() {}

    static Writer node(String operator, String inputs, String output) {
        Writer node = new Writer();
        Arrays.stream(inputs.split(" ")).forEach(input -> node.text(1, input));
        Arrays.stream(output.split(" ")).forEach(name -> node.text(2, name));
        return node.text(4, operator);
    }

    static Writer attribute(String name, long value) {
        return new Writer().text(1, name).integer(3, value).integer(20, 2);
    }

    static Writer integers(String name, long... values) {
        return OnnxWriter.tensor(name, HostTensor.of(values));
    }

    /** {@code first}, then nodes {@code t0 → t1 → … → y}. */
    static Writer chain(int count, IntFunction<Writer> node) {
        Writer graph = new Writer();
        IntStream.range(0, count).mapToObj(node).forEach(each -> graph.message(1, each));
        return graph;
    }

    /** Returns a name that is equal to those of other numbers but for special characters. */
    static String odd(int i) {
        return Integer.toBinaryString(1 << 15 | i).replace('0', '!').replace('1', '#');
    }

    static String name(int i, int count) {
        return i == 0 ? "x" : i == count ? "y" : "t" + i;
    }

    /** Returns files by name, of as many nodes as a file may have. */
    public static Map<String, byte[]> crafted() {
        return crafted(OnnxGraph.MAX_NODES);
    }

    /** Returns files by name, each of which would take minutes or gigabytes if it were read without care. */
    static Map<String, byte[]> crafted(int k) {
        long big = 1L << 20;
        int n = 3_000;
        Writer reductions = chain(n, i -> node("ReduceMax", "big", "m" + i))
                .message(1, node("ConstantOfShape", "s", "big"))
                .message(
                        1,
                        node(
                                        "Concat",
                                        String.join(
                                                " ",
                                                IntStream.range(0, n)
                                                        .mapToObj(i -> "m" + i)
                                                        .toList()),
                                        "all")
                                .message(5, attribute("axis", 0)))
                .message(1, node("ReduceMax", "all", "sum").message(5, attribute("keepdims", 0)))
                .message(1, node("Add", "x sum", "y"))
                .message(5, integers("s", big));
        long[] zeros = new long[4_000];
        long[] ends = new long[4_000];
        Arrays.fill(ends, big);
        Writer slice = new Writer()
                .message(1, node("ConstantOfShape", "s", "big"))
                .message(1, node("Slice", "big zeros ends zeros", "part"))
                .message(1, node("ReduceMax", "part", "sum").message(5, attribute("keepdims", 0)))
                .message(1, node("Add", "x sum", "y"))
                .message(5, integers("s", big))
                .message(5, integers("zeros", zeros))
                .message(5, integers("ends", ends));
        long[] eight = new long[4_000];
        Arrays.fill(eight, 3);
        long[] last = new long[4_000];
        Arrays.fill(last, 1 << 20);
        Writer sliceData = new Writer()
                .message(1, node("Slice", "x zeros last axes", "y"))
                .message(5, integers("zeros", zeros))
                .message(5, integers("last", last))
                .message(5, integers("axes", eight));
        int m = 60;
        Writer erf = chain(m, i -> node("Erf", "t" + i, "t" + (i + 1)))
                .message(
                        1,
                        node("ConstantOfShape", "s", "t0")
                                .message(
                                        5,
                                        new Writer()
                                                .text(1, "value")
                                                .message(5, OnnxWriter.tensor("", HostTensor.number(4.9)))))
                .message(1, node("ReduceMax", "t" + m, "sum").message(5, attribute("keepdims", 0)))
                .message(1, node("Add", "x sum", "y"))
                .message(5, integers("s", big));
        Writer relu = chain(k, i -> node("Relu", name(i, k), name(i + 1, k)));
        Writer mul =
                chain(k, i -> node("Mul", name(i, k) + " c", name(i + 1, k))).message(5, integers("c", 1));
        Writer same = chain(k, i -> node("Relu", i == 0 ? "x" : odd(i), i == k - 1 ? "y" : odd(i + 1)));
        Writer transposes = chain(
                k,
                i -> node("Transpose", name(i, k), name(i + 1, k))
                        .message(
                                5,
                                new Writer()
                                        .text(1, "perm")
                                        .integers(8, new long[] {0, 1, 3, 2})
                                        .integer(20, 7)));
        Writer wide = chain(k - 1, i -> node("Relu", "x", "r" + i));
        int half = k / 2 - 1;
        // all read x, then are added up
        Writer ladder = chain(half, i -> node("Relu", "x", "r" + i));
        for (int i = 0; i < half; i++) {
            ladder.message(1, node("Add", (i == 0 ? "x" : "s" + i) + " r" + i, i == half - 1 ? "y" : "s" + (i + 1)));
        }
        // tokens without feature maps before them
        Writer tokens = chain(k - 1, i -> node("Relu", i == 0 ? "tokens" : "t" + i, i == k - 2 ? "y" : "t" + (i + 1)))
                .message(1, node("Reshape", "x form", "tokens"))
                .message(5, integers("form", 0, 3, -1));
        // constants of sizes, all needed by each layer
        Writer shapes = chain(half, i -> node("Relu", name(2 * i, 2 * half), "q" + i));
        for (int i = 0; i < half; i++) {
            shapes.message(1, node("Mul", "q" + i + " sizes", name(2 * i + 2, 2 * half)));
        }
        shapes.message(1, node("Shape", "x", "sizes0"))
                .message(1, node("ReduceMax", "sizes0", "sizes").message(5, attribute("keepdims", 0)));
        Writer constants = chain(k, i -> node("Mul", name(i, k) + " c" + i, name(i + 1, k)));
        IntStream.range(0, k).forEach(i -> constants.message(5, integers("c" + i, 1)));
        wide.message(1, node("Relu", "r1", "y"));
        Map<String, byte[]> files = new LinkedHashMap<>();
        files.put("reductions", model(reductions));
        files.put("slice", model(slice));
        files.put("slice of data", model(sliceData));
        files.put("erf", model(erf));
        files.put("relu", model(relu));
        files.put("mul", model(mul));
        files.put("same names", model(same));
        files.put("transposes", model(transposes));
        files.put("ladder", model(ladder));
        files.put("wide", model(wide));
        files.put("tokens", model(tokens));
        files.put("shapes", model(shapes));
        files.put("constants", model(constants));
        return files;
    }

    /** A file of up to 1,024 random operators on random inputs, with random attributes and constants. */
    public static byte[] random(RandomGenerator random) {
        Writer graph = new Writer();
        List<String> values = new ArrayList<>(List.of("x", "x"));
        for (int i = 0; i < 6; i++) {
            graph.message(5, integers("c" + i, extremes(random)));
            values.add("c" + i);
        }
        int count = 1 << random.nextInt(11);
        for (int i = 0; i < count; i++) {
            String inputs = String.join(
                    " ",
                    IntStream.range(0, 1 + random.nextInt(3))
                            // mostly the latest value: chains grow
                            .mapToObj(_ ->
                                    random.nextBoolean() ? values.getLast() : values.get(random.nextInt(values.size())))
                            .toList());
            String output = i == count - 1 ? "y" : "v" + i;
            Writer node = node(OPERATORS.get(random.nextInt(OPERATORS.size())), inputs, output);
            for (int more = random.nextInt(3); more > 0; more--) {
                String name = ATTRIBUTES.get(random.nextInt(ATTRIBUTES.size()));
                long[] several = extremes(random);
                node.message(
                        5,
                        random.nextBoolean()
                                ? attribute(name, several.length == 0 ? 0 : several[0])
                                : new Writer()
                                        .text(1, name)
                                        .integers(8, several)
                                        .integer(20, 7));
            }
            graph.message(1, node);
            values.add(output);
        }
        return model(graph);
    }

    private static long[] extremes(RandomGenerator random) {
        return random.ints(random.nextInt(5), 0, EXTREMES.length)
                .mapToLong(i -> EXTREMES[i])
                .toArray();
    }

    static byte[] model(Writer graph) {
        OnnxWriter.ValueInfo input = new OnnxWriter.ValueInfo("x", List.of(-1L, 3L, -1L, -1L), "");
        OnnxWriter.ValueInfo output = new OnnxWriter.ValueInfo("y", List.of(), "");
        byte[] ends = OnnxWriter.graph(List.of(), List.of(), List.of(input), List.of(output))
                .toBytes();
        byte[] body = graph.toBytes();
        byte[] joined = Arrays.copyOf(body, body.length + ends.length);
        System.arraycopy(ends, 0, joined, body.length, ends.length);
        return new Writer()
                .bytes(7, MemorySegment.ofArray(joined))
                .message(8, new Writer().integer(2, 13))
                .toBytes();
    }
}
