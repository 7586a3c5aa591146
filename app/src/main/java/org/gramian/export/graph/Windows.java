package org.gramian.export.graph;

import java.util.List;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.export.proto.OnnxProto;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Window;
import org.gramian.tensor.Window.Pair;

/**
 * Pooling, activation and resize operators on feature maps {@code [n, c, h, w]}.
 *
 * <p>Incomplete windows at the far border become explicit padding instead of {@code ceil_mode}, which runtimes read differently.
 */
record Windows(Graph graph) {
    /** Max pooling. */
    Value max(Value maps, Window window) {
        return pool("MaxPool", maps, window, far(maps, window));
    }

    /**
     * Average pooling. Padding counts as zeros; positions beyond it in a rounded-up window do not count.
     *
     * @throws NotExpressibleException for windows with padding that are rounded up
     */
    Value average(Value maps, Window window) {
        boolean padded = window.padding().vertical() + window.padding().horizontal() > 0;
        if (padded && window.ceil()) {
            throw new NotExpressibleException(
                    "average pooling with both padding and ceil mode, which ONNX averages differently");
        }
        Pair far = window.ceil() ? far(maps, window) : window.padding();
        return pool(
                "AveragePool", maps, window, far, OnnxProto.Attribute.of("count_include_pad", window.ceil() ? 0 : 1));
    }

    /** Global average pooling to {@code [n, c, 1, 1]}. */
    Value globalAverage(Value maps) {
        return graph.node("GlobalAveragePool", List.of(maps.at(0), maps.at(1), 1L, 1L), List.of(maps));
    }

    /** Global max pooling to {@code [n, c, 1, 1]}. */
    Value globalMax(Value maps) {
        return graph.node("GlobalMaxPool", List.of(maps.at(0), maps.at(1), 1L, 1L), List.of(maps));
    }

    /** Applies an activation. */
    Value activated(Value maps, Activation activation) {
        return switch (activation) {
            case NONE -> maps;
            case RELU -> graph.node("Relu", maps.sizes(), List.of(maps));
            case RELU6 -> graph.node("Clip", maps.sizes(), List.of(maps, graph.number(0), graph.number(6)));
            case SIGMOID -> graph.node("Sigmoid", maps.sizes(), List.of(maps));
            case HARD_SIGMOID ->
                graph.node(
                        "HardSigmoid",
                        maps.sizes(),
                        List.of(maps),
                        OnnxProto.Attribute.of("alpha", 1.0 / 6),
                        OnnxProto.Attribute.of("beta", 0.5));
            // HardSwish is an operator since opset 14, Swish since 24: as products they suit every opset
            case SILU -> new Algebra(graph).mul(maps, activated(maps, Activation.SIGMOID));
            case HARD_SWISH -> new Algebra(graph).mul(maps, activated(maps, Activation.HARD_SIGMOID));
        };
    }

    /**
     * Resizes as {@link Interpolation#resize}: bilinear between half-pixel centres.
     *
     * <p>Scales are given instead of sizes, since the number of images is dynamic; each is the nearest float32 to the ratio with
     * {@code floor(size·scale)} equal to the target.
     */
    Value resize(Value maps, long height, long width) {
        return resize(maps, height, width, "linear");
    }

    /** Resizes between half-pixel centres, {@code linear} or {@code cubic}. */
    Value resize(Value maps, long height, long width, String mode) {
        if (maps.at(2) == height && maps.at(3) == width) {
            return maps;
        }
        Value scales = graph.constant(
                "scales", List.of(4L), new double[] {1, 1, scale(maps.at(2), height), scale(maps.at(3), width)});
        return graph.node(
                "Resize",
                List.of(maps.at(0), maps.at(1), height, width),
                List.of(maps, Value.ABSENT, scales),
                OnnxProto.Attribute.of("coordinate_transformation_mode", "half_pixel"),
                OnnxProto.Attribute.of("mode", mode));
    }

    private static double scale(long from, long to) {
        float scale = (float) to / from;
        while ((long) (scale * from) < to || Math.floor((double) scale * from) < to) {
            scale = Math.nextUp(scale);
        }
        return scale;
    }

    /** The maps that {@link #resize} made larger, as {@link Interpolation#undoResize}. */
    Value undoResize(Value maps, long height, long width) {
        if (maps.at(2) == height && maps.at(3) == width) {
            return maps;
        }
        Algebra algebra = new Algebra(graph);
        Value rows = inverse(height, maps.at(2));
        Value columns = inverse(width, maps.at(3));
        return algebra.matmul(rows, algebra.matmul(maps, algebra.transpose(columns)));
    }

    private Value inverse(long from, long to) {
        return graph.constant(
                "inverse", List.of(from, to), Interpolation.inverseWeights(Math.toIntExact(from), Math.toIntExact(to)));
    }

    private Value pool(String operator, Value maps, Window window, Pair far, OnnxProto.Attribute... more) {
        Shape left = window.outputs(Shape.of(maps.at(1), maps.at(2), maps.at(3)));
        Pair near = window.padding();
        OnnxProto.Attribute[] all = new OnnxProto.Attribute[3 + more.length];
        all[0] = OnnxProto.Attribute.of("kernel_shape", pair(window.size()));
        all[1] = OnnxProto.Attribute.of("strides", pair(window.stride()));
        all[2] = OnnxProto.Attribute.of(
                "pads", new long[] {near.vertical(), near.horizontal(), far.vertical(), far.horizontal()});
        System.arraycopy(more, 0, all, 3, more.length);
        return graph.node(operator, List.of(maps.at(0), maps.at(1), left.at(1), left.at(2)), List.of(maps), all);
    }

    private static long[] pair(Pair pair) {
        return new long[] {pair.vertical(), pair.horizontal()};
    }

    /** Rows and columns that the last window reaches beyond the maps. */
    private static Pair far(Value maps, Window window) {
        Shape left = window.outputs(Shape.of(maps.at(1), maps.at(2), maps.at(3)));
        return new Pair(
                beyond(
                        (left.at(1) - 1) * window.stride().vertical()
                                + window.size().vertical(),
                        maps.at(2) + window.padding().vertical()),
                beyond(
                        (left.at(2) - 1) * window.stride().horizontal()
                                + window.size().horizontal(),
                        maps.at(3) + window.padding().horizontal()));
    }

    private static int beyond(long end, long side) {
        return Math.toIntExact(Math.max(0, end - side));
    }
}
