package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.gramian.tensor.Shape;

/** Shapes of results from shapes and constant inputs; every error names the node. */
public final class ShapeRules {
    /** Maximum number of dimensions. */
    private static final int MAX_RANK = 8;

    /** Maximum number of elements of one tensor for one image. */
    private static final long MAX_ELEMENTS = 1L << 31;

    private ShapeRules() {}

    /** Returns a shape; throws if it has too many dimensions or elements, or a negative size. */
    static Shape shape(OnnxNode node, long... sizes) {
        if (sizes.length > MAX_RANK) {
            throw node.error("expected at most " + MAX_RANK + " dimensions, found " + sizes.length);
        }
        double elements = Arrays.stream(sizes).asDoubleStream().reduce(1, (a, b) -> a * b);
        if (Arrays.stream(sizes).anyMatch(size -> size < 0) || elements > MAX_ELEMENTS) {
            throw node.error("expected a shape of at most 2^31 elements, found " + Arrays.toString(sizes));
        }
        return Shape.of(sizes);
    }

    /** Returns the non-negative index of a dimension. */
    static int axis(OnnxNode node, long axis, int rank) {
        long index = axis < 0 ? axis + rank : axis;
        if (index < 0 || index >= rank) {
            throw node.error("expected a dimension from " + -rank + " to " + (rank - 1) + ", found " + axis);
        }
        return (int) index;
    }

    static Shape broadcast(OnnxNode node, Shape a, Shape b) {
        long[] sizes = new long[Math.max(a.rank(), b.rank())];
        for (int i = 1; i <= sizes.length; i++) {
            long m = i > a.rank() ? 1 : a.at(-i);
            long n = i > b.rank() ? 1 : b.at(-i);
            if (m != n && m != 1 && n != 1) {
                throw node.error("shapes " + a + " and " + b + " do not fit: expected equal sizes or 1, found " + m
                        + " and " + n);
            }
            sizes[sizes.length - i] = m == 1 ? n : m;
        }
        return shape(node, sizes);
    }

    /** Returns the result of Reshape, Flatten, Squeeze or Unsqueeze. */
    static Shape reshaped(NodeContext at) {
        OnnxNode node = at.node();
        Operand x = at.in(0);
        return switch (node.operator()) {
            case "Reshape" -> reshape(node, x.shape(), at.integers(1));
            case "Flatten" -> flatten(node, x.shape());
            case "Squeeze" -> squeeze(node, x, at.integers(1));
            default -> unsqueeze(node, x.shape(), at.integers(1));
        };
    }

    private static Shape reshape(OnnxNode node, Shape x, long[] wanted) {
        long[] sizes = wanted.clone();
        int free = -1;
        long known = 1;
        for (int i = 0; i < sizes.length; i++) {
            if (sizes[i] == 0 && node.integer("allowzero", 0) == 0) {
                sizes[i] = i < x.rank() ? x.at(i) : -2;
            }
            if (sizes[i] == -1 && free < 0) {
                free = i;
            } else if (sizes[i] < 0 || (sizes[i] > 0 && known > MAX_ELEMENTS / sizes[i])) {
                throw node.error("expected sizes, 0 or one -1, found " + Arrays.toString(wanted) + " for " + x);
            } else {
                known *= sizes[i];
            }
        }
        if (free >= 0) {
            sizes[free] = known == 0 ? 0 : x.elements() / known;
        }
        Shape result = shape(node, sizes);
        if (result.elements() != x.elements()) {
            throw node.error("a tensor " + x + " cannot become " + Arrays.toString(wanted)
                    + "; the sizes in the file belong to another image size");
        }
        return result;
    }

    private static Shape flatten(OnnxNode node, Shape x) {
        long wanted = node.integer("axis", 1);
        int axis = wanted == x.rank() ? x.rank() : axis(node, wanted, x.rank());
        long before = 1;
        for (int i = 0; i < axis; i++) {
            before *= x.at(i);
        }
        return shape(node, before, before == 0 ? 0 : x.elements() / before);
    }

    private static Shape squeeze(OnnxNode node, Operand x, long[] axes) {
        boolean[] gone = new boolean[x.rank()];
        for (int i = 0; i < gone.length; i++) {
            gone[i] = axes.length == 0 && x.size(i) == 1 && i != x.batch();
        }
        for (long axis : axes) {
            gone[axis(node, axis, x.rank())] = true;
        }
        long[] kept = IntStream.range(0, gone.length)
                .filter(i -> !gone[i])
                .mapToLong(x::size)
                .toArray();
        Shape result = shape(node, kept);
        if (result.elements() != x.shape().elements()) {
            throw node.error("expected sizes 1 at " + Arrays.toString(axes) + ", found " + x.shape());
        }
        return result;
    }

    private static Shape unsqueeze(OnnxNode node, Shape x, long[] axes) {
        int rank = x.rank() + axes.length;
        if (rank > MAX_RANK) {
            throw node.error("expected at most " + MAX_RANK + " dimensions, found " + rank);
        }
        boolean[] added = new boolean[rank];
        for (long axis : axes) {
            int index = axis(node, axis, rank);
            if (added[index]) {
                throw node.error("expected distinct axes, found " + Arrays.toString(axes));
            }
            added[index] = true;
        }
        long[] sizes = new long[rank];
        int next = 0;
        for (int i = 0; i < rank; i++) {
            sizes[i] = added[i] ? 1 : x.at(next++);
        }
        return shape(node, sizes);
    }

    /** Returns the order of dimensions of Transpose. */
    static int[] permutation(NodeContext at) {
        int rank = at.in(0).rank();
        long[] reversed = LongStream.range(0, rank).map(i -> rank - 1 - i).toArray();
        int[] order = Arrays.stream(at.node().integers("perm", reversed))
                .mapToInt(i -> axis(at.node(), i, rank))
                .toArray();
        if (order.length != rank || Arrays.stream(order).distinct().count() != rank) {
            throw at.error("expected each of " + rank + " dimensions once, found " + Arrays.toString(order));
        }
        return order;
    }

    static Shape permuted(Shape x, int[] order) {
        return Shape.of(Arrays.stream(order).mapToLong(x::at).toArray());
    }

    static Shape gathered(Shape x, int axis, Shape indexes) {
        return Shape.of(LongStream.concat(
                        LongStream.concat(Arrays.stream(x.sizes()).limit(axis), Arrays.stream(indexes.sizes())),
                        Arrays.stream(x.sizes()).skip(axis + 1L))
                .toArray());
    }

    /** Returns the indexes of Gather along a dimension, 0 or more. */
    static long[] indexes(NodeContext at, int axis) {
        long size = at.in(0).size(axis);
        long[] given = at.constant(1).integers();
        for (long index : given) {
            if (index < -size || index >= size) {
                throw at.error("expected indexes from " + -size + " to " + (size - 1) + " of dimension " + axis
                        + ", found " + index);
            }
        }
        return Arrays.stream(given).map(i -> i < 0 ? i + size : i).toArray();
    }

    static Shape concatenated(NodeContext at, int axis) {
        List<Shape> parts = at.inputs().stream().map(Operand::shape).toList();
        Shape first = parts.getFirst();
        long size = 0;
        for (Shape part : parts) {
            if (part.rank() != first.rank() || !part.with(axis, 0).equals(first.with(axis, 0))) {
                throw at.error("expected equal sizes other than of dimension " + axis + ", found " + parts);
            }
            size += part.at(axis);
        }
        return shape(at.node(), first.with(axis, size).sizes());
    }

    /**
     * Part of a dimension.
     *
     * @param step distance between indexes, not 0
     */
    public record Range(int axis, long start, long step, long count) {
        /** Returns the indexes. */
        public long[] indexes() {
            return LongStream.range(0, count).map(i -> start + i * step).toArray();
        }
    }

    /** Returns the parts that Slice takes. */
    static List<Range> ranges(NodeContext at) {
        OnnxNode node = at.node();
        Shape x = at.in(0).shape();
        long[] starts = at.integers(1);
        long[] ends = at.integers(2);
        long[] axes = at.integers(3);
        long[] steps = at.integers(4);
        boolean fits = starts.length == ends.length
                && (axes.length == 0 || axes.length == starts.length)
                && (steps.length == 0 || steps.length == starts.length);
        if (!fits) {
            throw node.error("expected as many starts, ends, axes and steps, found " + starts.length + ", "
                    + ends.length + ", " + axes.length + " and " + steps.length);
        }
        List<Range> ranges = new ArrayList<>();
        for (int i = 0; i < starts.length; i++) {
            int axis = axis(node, axes.length == 0 ? i : axes[i], x.rank());
            ranges.add(range(node, axis, x.at(axis), starts[i], ends[i], steps.length == 0 ? 1 : steps[i]));
        }
        return ranges;
    }

    private static Range range(OnnxNode node, int axis, long size, long start, long end, long step) {
        if (step == 0) {
            throw node.error("expected a step other than 0, found 0");
        }
        long min = step > 0 ? 0 : -1;
        long max = step > 0 ? size : size - 1;
        long from = Math.clamp(start < 0 ? start + size : start, Math.min(0, max), max);
        long to = Math.clamp(end < 0 ? end + size : end, min, max);
        long span = step > 0 ? to - from : from - to;
        return new Range(axis, from, step, span <= 0 ? 0 : (span - 1) / Math.abs(Math.max(step, -Long.MAX_VALUE)) + 1);
    }

    /** Returns the sizes of the parts of Split. */
    static long[] parts(NodeContext at) {
        long size = at.in(0).size(at.axis(0));
        long[] parts = at.integers(1);
        int count = at.node().outputs().size();
        if (parts.length == 0) {
            long each = Math.ceilDiv(size, count);
            parts = new long[count];
            for (int i = 0; i < count; i++) {
                parts[i] = Math.max(0, Math.min(each, size - i * each));
            }
        }
        if (parts.length != count
                || Arrays.stream(parts).anyMatch(part -> part < 0 || part > size)
                || Arrays.stream(parts).sum() != size) {
            throw at.error("expected " + count + " parts of " + size + ", found " + Arrays.toString(parts));
        }
        return parts;
    }

    /** Reduction over dimensions. */
    @SuppressWarnings("ArrayRecordComponent") // never changed
    record Reduction(int[] axes, Shape kept, Shape result) {}

    /** Returns the dimensions and shapes of ReduceMean and the like; without axes all dimensions are reduced. */
    static Reduction reduction(NodeContext at) {
        OnnxNode node = at.node();
        Shape x = at.in(0).shape();
        long[] given = at.integers(1);
        boolean none = given.length == 0 && node.integer("noop_with_empty_axes", 0) == 1;
        int[] axes = given.length == 0 && !none
                ? IntStream.range(0, x.rank()).toArray()
                : Arrays.stream(given)
                        .mapToInt(i -> axis(node, i, x.rank()))
                        .distinct()
                        .toArray();
        Shape kept = x;
        for (int axis : axes) {
            kept = kept.with(axis, 1);
        }
        if (node.integer("keepdims", 1) == 1) {
            return new Reduction(axes, kept, kept);
        }
        long[] rest = IntStream.range(0, x.rank())
                .filter(i -> Arrays.stream(axes).noneMatch(axis -> axis == i))
                .mapToLong(x::at)
                .toArray();
        return new Reduction(axes, kept, Shape.of(rest));
    }
}
