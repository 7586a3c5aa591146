package org.gramian.export.graph;

import java.util.List;
import org.gramian.autodiff.Interpolation;
import org.gramian.export.proto.AttributeProto;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Window;
import org.gramian.tensor.Window.Pair;

/**
 * Operators that slide over maps {@code [n, c, h, w]}: pooling, and what ends a layer.
 *
 * <p>Sizes are known, so incomplete windows at the far border are said by padding of just that many rows instead of ONNX's
 * {@code ceil_mode}, which runtimes have not always read alike.
 *
 * @param graph to which nodes are added
 */
record Windows(Graph graph) {
    /** The largest value of each window. */
    Value max(Value maps, Window window) {
        return pool("MaxPool", maps, window, far(maps, window));
    }

    /**
     * The mean of each window. Padding counts as zeros, but what a rounded-up window has beyond it does not count.
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
        return pool("AveragePool", maps, window, far, AttributeProto.of("count_include_pad", window.ceil() ? 0 : 1));
    }

    /** The mean of each map, {@code [n, c, 1, 1]}. */
    Value globalAverage(Value maps) {
        return graph.node("GlobalAveragePool", List.of(maps.at(0), maps.at(1), 1L, 1L), List.of(maps));
    }

    /** The largest value of each map, {@code [n, c, 1, 1]}. */
    Value globalMax(Value maps) {
        return graph.node("GlobalMaxPool", List.of(maps.at(0), maps.at(1), 1L, 1L), List.of(maps));
    }

    Value activated(Value maps, Activation activation) {
        return switch (activation) {
            case NONE -> maps;
            case RELU -> graph.node("Relu", maps.sizes(), List.of(maps));
            case RELU6 -> graph.node("Clip", maps.sizes(), List.of(maps, graph.number(0), graph.number(6)));
        };
    }

    /**
     * Maps of another height and width, as {@link Interpolation#resize}: bilinear between half-pixel centres.
     *
     * <p>Scales are given instead of sizes, since the number of images is open; each is the float32 number next to the ratio
     * with which runtimes find the wanted size, {@code floor(size·scale)}.
     */
    Value resize(Value maps, long height, long width) {
        if (maps.at(2) == height && maps.at(3) == width) {
            return maps;
        }
        Value scales = graph.constant(
                "scales", List.of(4L), new double[] {1, 1, scale(maps.at(2), height), scale(maps.at(3), width)});
        return graph.node(
                "Resize",
                List.of(maps.at(0), maps.at(1), height, width),
                List.of(maps, Value.ABSENT, scales),
                AttributeProto.of("coordinate_transformation_mode", "half_pixel"),
                AttributeProto.of("mode", "linear"));
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

    private Value pool(String operator, Value maps, Window window, Pair far, AttributeProto... more) {
        Shape left = window.outputs(Shape.of(maps.at(1), maps.at(2), maps.at(3)));
        Pair near = window.padding();
        AttributeProto[] all = new AttributeProto[3 + more.length];
        all[0] = AttributeProto.of("kernel_shape", pair(window.size()));
        all[1] = AttributeProto.of("strides", pair(window.stride()));
        all[2] = AttributeProto.of(
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
