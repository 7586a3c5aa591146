package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;

/** Operators of ONNX on the tape that reduce, rearrange, join or divide tensors. */
final class ShapeOperators {
    private ShapeOperators() {}

    static BoundOperator reduce(NodeContext at, boolean mean) {
        Operand x = at.in(0);
        ShapeRules.Reduction reduction = ShapeRules.reduction(at);
        int[] axes = reduction.axes();
        Arrays.stream(axes).forEach(axis -> at.requireNoImages(x, axis));
        boolean kept = reduction.kept().equals(reduction.result());
        int gone = kept
                ? 0
                : (int) Arrays.stream(axes).filter(axis -> axis < x.batch()).count();
        Operand result = x.to(reduction.result(), x.batch() - gone);
        boolean global = mean
                && x.rank() == 4
                && x.batch() == 0
                && Arrays.equals(Arrays.stream(axes).sorted().toArray(), new int[] {2, 3});
        double factor = mean ? (double) reduction.kept().elements() / x.shape().elements() : 1;
        return BoundOperator.map(result, v -> {
            Var sums = global ? FeatureMaps.globalAveragePool(v) : v.sum(axes).mul(factor);
            return kept ? sums : sums.reshape(at.sizes(result));
        });
    }

    /** Reshape, Flatten, Squeeze and Unsqueeze. */
    static BoundOperator reshape(NodeContext at) {
        Operand x = at.in(0);
        Shape shape = ShapeRules.reshaped(at);
        Operand result = x.data() ? images(at, x, shape) : x.to(shape);
        return BoundOperator.map(result, v -> v.reshape(at.sizes(result)));
    }

    /**
     * Finds the images after a change of shape: they are in a dimension with as many elements before them as there were.
     *
     * <p>In the shapes of one image several dimensions may fit. One of size 1 is chosen first. Else {@code [t, 1, d]}
     * becomes the rows {@code [t·1, d]} of a linear layer if two dimensions remain, and the heads {@code [t, 1·h, e]} of
     * attention if more do.
     */
    private static Operand images(NodeContext at, Operand x, Shape shape) {
        long before = x.outer();
        for (int i = 0; i < x.batch(); i++) {
            before *= x.size(i);
        }
        List<Operand> found = new ArrayList<>();
        long passed = 1;
        for (int i = 0; i < shape.rank() && passed <= before; i++) {
            long outer = before / passed;
            if (before % passed == 0 && shape.at(i) % (outer * at.batch()) == 0) {
                found.add(new Operand(shape, null, i, outer));
            }
            passed *= shape.at(i);
        }
        if (found.isEmpty()) {
            if (at.images() > 1) {
                throw at.error("expected a shape that keeps the images apart, found " + x.shape() + " to " + shape
                        + "; export with a dynamic batch size: dynamic_axes={'images': {0: 'n'}}");
            }
            return x.to(shape, 0);
        }
        return found.stream()
                .filter(operand -> operand.outer() == 1 && operand.size(operand.batch()) == at.batch())
                .findFirst()
                .orElseGet(() -> shape.rank() == 2 ? found.getFirst() : found.getLast());
    }

    static BoundOperator transpose(NodeContext at) {
        Operand x = at.in(0);
        int[] order = ShapeRules.permutation(at);
        int batch = IntStream.range(0, order.length)
                .filter(i -> order[i] == x.batch())
                .findFirst()
                .orElse(-1);
        return BoundOperator.map(x.to(ShapeRules.permuted(x.shape(), order), batch), v -> v.permute(order));
    }

    static BoundOperator expand(NodeContext at) {
        Operand x = at.in(0);
        Shape wanted = ShapeRules.shape(at.node(), at.integers(1));
        Shape shape = ShapeRules.broadcast(at.node(), x.shape(), wanted);
        Operand result = x.to(shape, x.batch() + shape.rank() - x.rank());
        return BoundOperator.map(result, v -> expanded(v, at.sizes(result)));
    }

    /** Repeats a tensor to sizes that it broadcasts to. */
    static Var expanded(Var x, long[] sizes) {
        long[] own = new long[sizes.length];
        Arrays.fill(own, 1);
        int rank = x.shape().rank();
        System.arraycopy(x.shape().sizes(), 0, own, sizes.length - rank, rank);
        return x.reshape(own).expand(sizes);
    }

    static BoundOperator concat(NodeContext at) {
        int axis = at.axis(1);
        Shape shape = ShapeRules.concatenated(at, axis);
        int data = IntStream.range(0, at.inputs().size())
                .filter(i -> at.in(i).data())
                .findFirst()
                .orElse(0);
        int batch = at.in(data).batch();
        at.requireNoImages(at.in(data), axis);
        return BoundOperator.of(at.in(data).to(shape), in -> {
            List<Var> parts = new ArrayList<>();
            for (int i = 0; i < at.inputs().size(); i++) {
                Var part = in.like(i, in.get(data));
                boolean once = batch >= 0 && !at.in(i).data() && at.images() > 1;
                Shape repeated = once ? part.shape().with(batch, part.shape().at(batch) * at.images()) : part.shape();
                parts.add(once ? part.expand(repeated.sizes()) : part);
            }
            return Var.concat(parts, axis);
        });
    }

    static BoundOperator slice(NodeContext at) {
        Operand x = at.in(0);
        Shape shape = x.shape();
        List<ShapeRules.Range> ranges = new ArrayList<>();
        for (ShapeRules.Range range : ShapeRules.ranges(at)) {
            if (range.start() != 0 || range.step() != 1 || range.count() != shape.at(range.axis())) {
                at.requireNoImages(x, range.axis());
                ranges.add(range);
            }
            shape = shape.with(range.axis(), range.count());
        }
        return BoundOperator.of(x.to(shape), in -> {
            Var part = in.get(0);
            for (ShapeRules.Range range : ranges) {
                part = range.step() == 1
                        ? part.slice(range.axis(), range.start(), range.start() + range.count())
                        : part.select(range.axis(), in.indexes(range.indexes()), true);
            }
            return part;
        });
    }

    static BoundOperator split(NodeContext at) {
        Operand x = at.in(0);
        int axis = at.axis(0);
        long[] parts = ShapeRules.parts(at);
        at.requireNoImages(x, axis);
        List<Operand> results = Arrays.stream(parts)
                .mapToObj(size -> x.to(x.shape().with(axis, size)))
                .toList();
        return new BoundOperator(results, in -> {
            List<Var> slices = new ArrayList<>();
            long start = 0;
            for (long size : parts) {
                slices.add(in.get(0).slice(axis, start, start + size));
                start += size;
            }
            return slices;
        });
    }

    static BoundOperator gather(NodeContext at) {
        Operand x = at.in(0);
        int axis = at.axis(0);
        Shape taken = at.constant(1).shape();
        long[] indexes = ShapeRules.indexes(at, axis);
        at.requireNoImages(x, axis);
        Shape shape = ShapeRules.gathered(x.shape(), axis, taken);
        Operand result = x.to(shape, axis < x.batch() ? x.batch() + taken.rank() - 1 : x.batch());
        boolean one = indexes.length == 1;
        boolean distinct = Arrays.stream(indexes).distinct().count() == indexes.length;
        return BoundOperator.of(result, in -> {
            Var part = one
                    ? in.get(0).slice(axis, indexes[0], indexes[0] + 1)
                    : in.get(0).select(axis, in.indexes(indexes), distinct);
            return taken.rank() == 1 ? part : part.reshape(at.sizes(result));
        });
    }
}
