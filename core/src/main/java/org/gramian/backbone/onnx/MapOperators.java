package org.gramian.backbone.onnx;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.BatchNorm;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.autodiff.network.FeatureMaps.ResponseNorm;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.backbone.onnx.BoundOperator.Arguments;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.Convolution.Window.Pair;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensors;

/** Operators of ONNX on feature maps {@code [n, c, h, w]}: convolution, pooling, norms, padding and resizing. */
public final class MapOperators {
    /** Largest kernel, stride, padding and dilation. */
    private static final long LARGEST = 1 << 14;

    private MapOperators() {}

    /**
     * Geometry of a sliding window.
     *
     * @param size rows and columns
     * @param stride step
     * @param dilation step between elements
     * @param before rows and columns of padding at the top and left
     * @param after rows and columns of padding at the bottom and right
     */
    private record Sliding(Pair size, Pair stride, Pair dilation, Pair before, Pair after) {
        static Sliding of(NodeContext at, long height, long width) {
            OnnxNode node = at.node();
            Operand maps = at.in(0, 4);
            Pair size = pair(node, node.integers("kernel_shape", height, width), 1);
            Pair stride = pair(node, node.integers("strides", 1, 1), 1);
            Pair dilation = pair(node, node.integers("dilations", 1, 1), 1);
            long[] pads = node.integers("pads", 0, 0, 0, 0);
            String auto = node.text("auto_pad", "NOTSET");
            if (auto.startsWith("SAME")) {
                long rows = same(maps.size(2), size.vertical(), stride.vertical(), dilation.vertical());
                long columns = same(maps.size(3), size.horizontal(), stride.horizontal(), dilation.horizontal());
                boolean upper = auto.equals("SAME_UPPER");
                pads = new long[] {
                    upper ? rows / 2 : rows - rows / 2,
                    upper ? columns / 2 : columns - columns / 2,
                    upper ? rows - rows / 2 : rows / 2,
                    upper ? columns - columns / 2 : columns / 2
                };
            } else if (auto.equals("VALID")) {
                pads = new long[4];
            }
            if (pads.length != 4) {
                throw node.error("expected padding on 4 sides, found " + Arrays.toString(pads));
            }
            Pair before = pair(node, new long[] {pads[0], pads[1]}, 0);
            return new Sliding(size, stride, dilation, before, pair(node, new long[] {pads[2], pads[3]}, 0));
        }

        private static long same(long side, long size, long stride, long dilation) {
            return Math.max(0, (Math.ceilDiv(side, stride) - 1) * stride + (size - 1) * dilation + 1 - side);
        }

        private static Pair pair(OnnxNode node, long[] values, long least) {
            if (values.length != 2 || Arrays.stream(values).anyMatch(value -> value < least || value > LARGEST)) {
                throw node.error("expected two sizes from " + least + " to " + LARGEST + ", found "
                        + Arrays.toString(values) + "; only two-dimensional windows are supported");
            }
            return new Pair((int) values[0], (int) values[1]);
        }

        /** Padding that both sides have. */
        Pair common() {
            return new Pair(
                    Math.min(before.vertical(), after.vertical()), Math.min(before.horizontal(), after.horizontal()));
        }

        /** Shape of maps after the padding that only one side has. */
        Shape padded(Shape maps) {
            return maps.with(2, maps.at(2) + Math.abs(before.vertical() - after.vertical()))
                    .with(3, maps.at(3) + Math.abs(before.horizontal() - after.horizontal()));
        }

        /** Adds the padding that only one side has. */
        Var pad(Var maps, double value) {
            Var rows = pad(maps, 2, before.vertical() - after.vertical(), value);
            return pad(rows, 3, before.horizontal() - after.horizontal(), value);
        }

        private static Var pad(Var maps, int dimension, long excess, double value) {
            return excess == 0 ? maps : maps.pad(dimension, Math.max(0, excess), Math.max(0, -excess), value);
        }

        /** Whether one more row and column after than before can become zeros of a small kernel. */
        boolean shifts() {
            return after.vertical() == before.vertical() + 1
                    && after.horizontal() == before.horizontal() + 1
                    && dilation.equals(new Pair(1, 1))
                    && size.vertical() > 1
                    && size.horizontal() > 1;
        }
    }

    /** Convolution, with a batch norm and an activation if {@link Fusion} found them. */
    static BoundOperator convolution(NodeContext at) {
        OnnxNode node = at.node();
        Operand weight = at.in(1, 4);
        Operand maps = at.in(0, 4);
        Sliding sliding = Sliding.of(at, weight.size(2), weight.size(3));
        long groups = node.integer("group", 1);
        boolean fits = groups >= 1
                && groups <= weight.size(0)
                && weight.size(0) % groups == 0
                && maps.size(1) == weight.size(1) * groups
                && sliding.size.vertical() == weight.size(2)
                && sliding.size.horizontal() == weight.size(3);
        if (!fits) {
            throw node.error("expected maps of " + weight.size(1) * groups + " channels and a kernel " + sliding.size
                    + ", found " + maps.shape() + " and weights " + weight.shape());
        }
        boolean shifts = sliding.shifts();
        Convolution convolution = new Convolution(
                sliding.stride, shifts ? sliding.after : sliding.common(), sliding.dilation, (int) groups);
        Shape kernel = shifts ? weight.shape().with(2, weight.size(2) + 1).with(3, weight.size(3) + 1) : weight.shape();
        Shape shape = convolution.output(shifts ? maps.shape() : sliding.padded(maps.shape()), kernel);
        Activation activation = Fusion.activation(node);
        boolean normalized = node.operator().equals(Fusion.CONV) && node.has(3);
        return at.of(maps.to(shape), in -> {
            Var filters = in.get(1);
            Var bias = node.has(2) ? in.get(2) : null;
            if (normalized) {
                BatchNorm.Statistics statistics =
                        new BatchNorm.Statistics(in.get(5).value(), in.get(6).value());
                BatchNorm.Folded folded = norm(node).fold(filters, in.get(3), in.get(4), statistics);
                filters = folded.weight();
                bias = folded.bias();
            }
            Var padded = shifts ? in.get(0) : sliding.pad(in.get(0), 0);
            Var wider = shifts ? filters.zerosBefore(2, 1).zerosBefore(3, 1) : filters;
            return FeatureMaps.convolve(padded, wider, bias, convolution).activate(activation);
        });
    }

    private static BatchNorm norm(OnnxNode node) {
        return new BatchNorm(node.number("epsilon", 1e-5), BatchNorm.STANDARD.momentum());
    }

    /** Batch norm with fixed statistics. */
    static BoundOperator batchNorm(NodeContext at) {
        Operand x = at.in(0);
        for (int i = 1; i <= 4; i++) {
            if (x.rank() < 2 || !at.in(i).shape().equals(Shape.of(x.size(1)))) {
                throw at.error("expected one number per channel of " + x.shape() + ", found "
                        + at.in(i).shape());
            }
        }
        return at.of(x, in -> {
            BatchNorm.Statistics statistics =
                    new BatchNorm.Statistics(in.get(3).value(), in.get(4).value());
            return norm(at.node()).predict(in.get(0), in.get(1), in.get(2), statistics);
        });
    }

    static BoundOperator responseNorm(NodeContext at) {
        OnnxNode node = at.node();
        at.in(0, 4);
        long size = node.integer("size", 1);
        if (size < 1 || size % 2 == 0 || size > LARGEST) {
            throw node.error("expected an odd number of channels, found " + size);
        }
        ResponseNorm norm = new ResponseNorm(
                (int) size, node.number("alpha", 1e-4), node.number("beta", 0.75), node.number("bias", 1));
        return at.map(at.in(0), x -> FeatureMaps.localResponseNorm(x, norm));
    }

    static BoundOperator maxPool(NodeContext at) {
        Sliding sliding = pooling(at);
        Window window = window(at, sliding);
        return at.map(
                pooled(at, sliding, window),
                x -> FeatureMaps.maxPool(sliding.pad(x, Double.NEGATIVE_INFINITY), window));
    }

    /** Mean of windows; without {@code count_include_pad} it is divided by the mean of ones. */
    static BoundOperator averagePool(NodeContext at) {
        Sliding sliding = pooling(at);
        Window window = window(at, sliding);
        Operand result = pooled(at, sliding, window);
        boolean padded = !sliding.before.equals(new Pair(0, 0)) || !sliding.after.equals(new Pair(0, 0));
        if (!padded || at.node().integer("count_include_pad", 0) == 1) {
            return at.map(result, x -> FeatureMaps.averagePool(sliding.pad(x, 0), window));
        }
        Shape one = at.in(0).shape().with(0, 1).with(1, 1);
        return at.map(result, x -> {
            Var ones = x.tape()
                    .apply(
                            List.of(),
                            () -> Result.of(
                                    Tensors.full(
                                            1, one, x.value().type(), x.value().device()),
                                    (g, wanted) -> List.of()));
            Var shares = FeatureMaps.averagePool(sliding.pad(ones, 0), window);
            return FeatureMaps.averagePool(sliding.pad(x, 0), window).div(shares);
        });
    }

    private static Sliding pooling(NodeContext at) {
        Sliding sliding = Sliding.of(at, 0, 0);
        if (!sliding.dilation.equals(new Pair(1, 1)) || at.node().outputs().size() > 1) {
            throw at.error("expected pooling without dilation and without indexes");
        }
        return sliding;
    }

    private static Window window(NodeContext at, Sliding sliding) {
        Pair common = sliding.common();
        Pair size = sliding.size;
        if (common.vertical() > size.vertical() / 2 || common.horizontal() > size.horizontal() / 2) {
            throw at.error("expected padding of at most half the window " + size + ", found " + common);
        }
        return new Window(size, sliding.stride, common, at.node().integer("ceil_mode", 0) == 1);
    }

    private static Operand pooled(NodeContext at, Sliding sliding, Window window) {
        Operand maps = at.in(0, 4);
        return maps.to(window.outputs(sliding.padded(maps.shape())));
    }

    static BoundOperator global(NodeContext at, boolean maximum) {
        Shape maps = at.in(0, 4).shape();
        if (maps.at(2) > LARGEST || maps.at(3) > LARGEST || maps.elements() == 0) {
            throw at.error("expected maps of 1 to " + LARGEST + " rows and columns, found " + maps);
        }
        Pair size = new Pair((int) maps.at(2), (int) maps.at(3));
        Window window = new Window(size, size, new Pair(0, 0), false);
        return at.map(
                at.in(0).to(maps.with(2, 1).with(3, 1)),
                x -> maximum ? FeatureMaps.maxPool(x, window) : FeatureMaps.globalAveragePool(x));
    }

    /** Padding with a constant, or by reflection or repetition of the border; negative padding crops. */
    static BoundOperator pad(NodeContext at) {
        Operand x = at.in(0);
        OnnxNode node = at.node();
        long[] pads = at.integers(1);
        double value = at.number(2, 0);
        String mode = node.text("mode", "constant");
        int rank = x.rank();
        if (pads.length != 2 * rank || node.has(3)) {
            throw node.error("expected padding before and after each of " + rank + " dimensions, found " + pads.length
                    + " numbers");
        }
        Shape shape = x.shape();
        for (int i = 0; i < rank; i++) {
            long size = shape.at(i) + pads[i] + pads[rank + i];
            boolean reflected = mode.equals("reflect") && Math.max(pads[i], pads[rank + i]) >= shape.at(i);
            if (size < 0 || size > LARGEST * LARGEST || reflected) {
                throw node.error("expected padding that fits " + x.shape() + ", found " + Arrays.toString(pads));
            }
            if (size != shape.at(i)) {
                at.requireNoImages(x, i);
            }
            shape = at.shape(shape.with(i, size).sizes());
        }
        return at.of(x.to(shape), in -> {
            Var padded = in.get(0);
            for (int i = 0; i < rank; i++) {
                padded = padded(in, padded, i, pads[i], pads[rank + i], mode, value);
            }
            return padded;
        });
    }

    private static Var padded(Arguments in, Var x, int axis, long before, long after, String mode, double value) {
        if (before == 0 && after == 0) {
            return x;
        }
        long size = x.shape().at(axis);
        if (!mode.equals("constant")) {
            boolean reflect = mode.equals("reflect");
            long[] indexes = LongStream.range(-before, size + after)
                    .map(i -> reflect ? (i < 0 ? -i : i >= size ? 2 * size - 2 - i : i) : Math.clamp(i, 0, size - 1))
                    .toArray();
            return x.select(axis, in.indexes(indexes), false);
        }
        Var inner = before < 0 || after < 0 ? x.slice(axis, Math.max(0, -before), size - Math.max(0, -after)) : x;
        return before > 0 || after > 0 ? inner.pad(axis, Math.max(0, before), Math.max(0, after), value) : inner;
    }

    /** Nearest, bilinear or bicubic resizing of height and width. */
    static BoundOperator resize(NodeContext at) {
        Operand maps = at.in(0, 4);
        OnnxNode node = at.node();
        double[] scales = scales(at, maps);
        long height = side(at, maps, 2, scales);
        long width = side(at, maps, 3, scales);
        Shape shape = at.shape(maps.size(0), maps.size(1), height, width);
        String mode = node.text("mode", "nearest");
        String centres = centres(at);
        if (mode.equals("nearest")) {
            List<long[]> indexes = nearest(at);
            return at.of(
                    maps.to(shape),
                    in -> in.get(0)
                            .select(2, in.indexes(indexes.get(0)), false)
                            .select(3, in.indexes(indexes.get(1)), false));
        }
        boolean half = centres.equals("half_pixel") || centres.equals("pytorch_half_pixel");
        boolean exact = half && Math.floor(maps.size(2) * scales[2]) == maps.size(2) * scales[2];
        if (!exact
                || node.integer("antialias", 0) == 1
                || Math.abs(node.number("cubic_coeff_a", -0.75) + 0.75) > 1e-6) {
            throw node.error("expected nearest, or linear or cubic resizing with half_pixel coordinates, found " + mode
                    + " with " + centres + "; export with align_corners=False");
        }
        Interpolation.Bicubic kernel = new Interpolation.Bicubic(false, 0);
        return at.map(
                maps.to(shape),
                x -> mode.equals("cubic")
                        ? Interpolation.resize(x, height, width, kernel)
                        : Interpolation.resize(x, height, width));
    }

    private static String centres(NodeContext at) {
        return at.node().text("coordinate_transformation_mode", "half_pixel");
    }

    /** Returns the rows and columns that nearest resizing takes. */
    public static List<long[]> nearest(NodeContext at) {
        Operand maps = at.in(0, 4);
        double[] scales = scales(at, maps);
        return List.of(
                nearest(at.node(), maps.size(2), side(at, maps, 2, scales), scales[2], centres(at)),
                nearest(at.node(), maps.size(3), side(at, maps, 3, scales), scales[3], centres(at)));
    }

    private static double[] scales(NodeContext at, Operand maps) {
        boolean sized = at.has(3);
        HostTensor given = sized || at.has(2) ? at.constant(sized ? 3 : 2) : HostTensor.of();
        if (given.values().length != 4) {
            throw at.error("expected scales or sizes of 4 dimensions, found " + given.values().length);
        }
        double[] scales = given.values().clone();
        for (int i = 0; sized && i < scales.length; i++) {
            scales[i] /= maps.size(i);
        }
        return scales;
    }

    private static long side(NodeContext at, Operand maps, int dimension, double[] scales) {
        double side = Math.floor(maps.size(dimension) * scales[dimension] + 1e-6);
        if (!(side >= 1 && side <= LARGEST) || Math.abs(scales[0] - 1) > 1e-6 || Math.abs(scales[1] - 1) > 1e-6) {
            throw at.error(
                    "expected scales [1, 1, h, w] to sides of 1 to " + LARGEST + ", found " + Arrays.toString(scales));
        }
        return (long) side;
    }

    private static long[] nearest(OnnxNode node, long from, long to, double scale, String centres) {
        String rounding = node.text("nearest_mode", centres.equals("asymmetric") ? "floor" : "round_prefer_floor");
        return LongStream.range(0, to)
                .map(i -> {
                    double place = switch (centres) {
                        case "asymmetric" -> i / scale;
                        case "half_pixel", "pytorch_half_pixel" -> (i + 0.5) / scale - 0.5;
                        case "align_corners" -> to == 1 ? 0 : i * (from - 1.0) / (to - 1);
                        default ->
                            throw node.error("expected asymmetric, half_pixel or align_corners, found " + centres);
                    };
                    double rounded = switch (rounding) {
                        case "floor" -> Math.floor(place + 1e-9);
                        case "ceil" -> Math.ceil(place - 1e-9);
                        case "round_prefer_ceil" -> Math.floor(place + 0.5);
                        default -> Math.ceil(place - 0.5);
                    };
                    return Math.clamp((long) rounded, 0, from - 1);
                })
                .toArray();
    }
}
