package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.tensor.Shape;

/** Operators that rearrange, join, divide or reduce tensors: of constants, and of data on the tape. */
public final class ShapeOperators {
    private ShapeOperators() {}

    private static BoundOperator reshaped(NodeContext at, Shape shape) {
        Operand x = at.in(0);
        if (at.isConstant()) {
            return at.constants(at.constant(0).reshape(shape));
        }
        Operand result = x.data() ? images(at, x, shape) : x.to(shape);
        return at.map(result, v -> v.reshape(at.sizes(result)));
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

    static BoundOperator reshape(NodeContext at) {
        OnnxNode node = at.node();
        Shape x = at.in(0).shape();
        long[] wanted = at.integers(1);
        long[] sizes = wanted.clone();
        int free = -1;
        long known = 1;
        for (int i = 0; i < sizes.length; i++) {
            if (sizes[i] == 0 && node.integer("allowzero", 0) == 0) {
                sizes[i] = i < x.rank() ? x.at(i) : -2;
            }
            if (sizes[i] == -1 && free < 0) {
                free = i;
            } else if (sizes[i] < 0 || (sizes[i] > 0 && known > NodeContext.MAX_ELEMENTS / sizes[i])) {
                throw node.error("expected sizes, 0 or one -1, found " + Arrays.toString(wanted) + " for " + x);
            } else {
                known *= sizes[i];
            }
        }
        if (free >= 0) {
            sizes[free] = known == 0 ? 0 : x.elements() / known;
        }
        Shape result = at.shape(sizes);
        if (result.elements() != x.elements()) {
            throw node.error("a tensor " + x + " cannot become " + Arrays.toString(wanted)
                    + "; the sizes in the file belong to another image size");
        }
        return reshaped(at, result);
    }

    static BoundOperator flatten(NodeContext at) {
        Shape x = at.in(0).shape();
        long wanted = at.node().integer("axis", 1);
        int axis = wanted == x.rank() ? x.rank() : at.axis(wanted, x.rank());
        long before = LongStream.of(x.sizes()).limit(axis).reduce(1, (a, b) -> a * b);
        return reshaped(at, at.shape(before, before == 0 ? 0 : x.elements() / before));
    }

    static BoundOperator squeeze(NodeContext at) {
        Operand x = at.in(0);
        long[] axes = at.integers(1);
        boolean[] gone = new boolean[x.rank()];
        for (int i = 0; i < gone.length; i++) {
            gone[i] = axes.length == 0 && x.size(i) == 1 && i != x.batch();
        }
        for (long axis : axes) {
            gone[at.axis(axis, x.rank())] = true;
        }
        Shape result = at.shape(IntStream.range(0, gone.length)
                .filter(i -> !gone[i])
                .mapToLong(x::size)
                .toArray());
        if (result.elements() != x.shape().elements()) {
            throw at.error("expected sizes 1 at " + Arrays.toString(axes) + ", found " + x.shape());
        }
        return reshaped(at, result);
    }

    static BoundOperator unsqueeze(NodeContext at) {
        Operand x = at.in(0);
        long[] axes = at.integers(1);
        int rank = x.rank() + axes.length;
        if (rank > NodeContext.MAX_RANK) {
            throw at.error("expected at most " + NodeContext.MAX_RANK + " dimensions, found " + rank);
        }
        boolean[] added = new boolean[rank];
        for (long axis : axes) {
            int index = at.axis(axis, rank);
            if (added[index]) {
                throw at.error("expected distinct axes, found " + Arrays.toString(axes));
            }
            added[index] = true;
        }
        long[] sizes = new long[rank];
        int next = 0;
        for (int i = 0; i < rank; i++) {
            sizes[i] = added[i] ? 1 : x.size(next++);
        }
        return reshaped(at, at.shape(sizes));
    }

    static BoundOperator transpose(NodeContext at) {
        Operand x = at.in(0);
        int rank = x.rank();
        long[] reversed = LongStream.range(0, rank).map(i -> rank - 1 - i).toArray();
        int[] order = Arrays.stream(at.node().integers("perm", reversed))
                .mapToInt(i -> at.axis(i, rank))
                .toArray();
        if (order.length != rank || Arrays.stream(order).distinct().count() != rank) {
            throw at.error("expected each of " + rank + " dimensions once, found " + Arrays.toString(order));
        }
        Shape shape = Shape.of(Arrays.stream(order).mapToLong(x::size).toArray());
        if (at.isConstant()) {
            HostTensor constant = at.constant(0);
            long[] own = HostTensor.strides(x.shape());
            long[] strides = IntStream.of(order).mapToLong(i -> own[i]).toArray();
            return at.constants(HostMath.fill(at, constant.whole(), shape, index -> constant.at(index, strides)));
        }
        int batch = IntStream.range(0, rank)
                .filter(i -> order[i] == x.batch())
                .findFirst()
                .orElse(-1);
        return at.map(x.to(shape, batch), v -> v.permute(order));
    }

    static BoundOperator expand(NodeContext at) {
        Operand x = at.in(0);
        Shape shape = at.broadcast(x.shape(), at.shape(at.integers(1)));
        if (at.isConstant()) {
            HostTensor constant = at.constant(0);
            return at.constants(HostMath.fill(at, constant.whole(), shape, constant.broadcast(shape)));
        }
        Operand result = x.to(shape, x.batch() + shape.rank() - x.rank());
        return at.map(result, v -> expanded(v, at.sizes(result)));
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
        List<Shape> parts = at.inputs().stream().map(Operand::shape).toList();
        Shape first = parts.getFirst();
        long size = 0;
        for (Shape part : parts) {
            if (part.rank() != first.rank() || !part.with(axis, 0).equals(first.with(axis, 0))) {
                throw at.error("expected equal sizes other than of dimension " + axis + ", found " + parts);
            }
            size += part.at(axis);
        }
        Shape shape = at.shape(first.with(axis, size).sizes());
        if (at.isConstant()) {
            return at.constants(concatenated(at, shape, axis));
        }
        int data = IntStream.range(0, parts.size())
                .filter(i -> at.in(i).data())
                .findFirst()
                .orElse(0);
        int batch = at.in(data).batch();
        at.requireNoImages(at.in(data), axis);
        return at.of(at.in(data).to(shape), in -> {
            List<Var> values = new ArrayList<>();
            for (int i = 0; i < parts.size(); i++) {
                Var part = in.like(i, in.get(data));
                boolean once = batch >= 0 && !at.in(i).data() && at.images() > 1;
                Shape repeated = once ? part.shape().with(batch, part.shape().at(batch) * at.images()) : part.shape();
                values.add(once ? part.expand(repeated.sizes()) : part);
            }
            return Var.concat(values, axis);
        });
    }

    private static HostTensor concatenated(NodeContext at, Shape shape, int axis) {
        double[] values = HostMath.fill(at, false, shape, _ -> 0).values();
        int inner = (int) HostTensor.strides(shape)[axis];
        int row = (int) shape.at(axis) * inner;
        int start = 0;
        for (int i = 0; i < at.inputs().size(); i++) {
            double[] part = at.constant(i).values();
            int length = (int) at.in(i).size(axis) * inner;
            for (int outer = 0; length > 0 && outer < part.length / length; outer++) {
                System.arraycopy(part, outer * length, values, outer * row + start, length);
            }
            start += length;
        }
        return new HostTensor(at.constant(0).whole(), shape, values);
    }

    /**
     * Part of a dimension.
     *
     * @param step distance between indexes, not 0
     */
    public record Range(int axis, long start, long step, long count) {
        public long[] indexes() {
            return LongStream.range(0, count).map(i -> start + i * step).toArray();
        }

        private static Range of(NodeContext at, int axis, long start, long end, long step) {
            if (step == 0) {
                throw at.error("expected a step other than 0, found 0");
            }
            long size = at.in(0).size(axis);
            long min = step > 0 ? 0 : -1;
            long max = step > 0 ? size : size - 1;
            long from = Math.clamp(start < 0 ? start + size : start, Math.min(0, max), max);
            long to = Math.clamp(end < 0 ? end + size : end, min, max);
            long span = step > 0 ? to - from : from - to;
            long count = span <= 0 ? 0 : (span - 1) / Math.abs(Math.max(step, -Long.MAX_VALUE)) + 1;
            return new Range(axis, from, step, count);
        }
    }

    public static List<Range> ranges(NodeContext at) {
        long[] starts = at.integers(1);
        long[] ends = at.integers(2);
        long[] axes = at.integers(3);
        long[] steps = at.integers(4);
        boolean fits = starts.length == ends.length
                && (axes.length == 0 || axes.length == starts.length)
                && (steps.length == 0 || steps.length == starts.length);
        if (!fits) {
            throw at.error("expected as many starts, ends, axes and steps, found " + starts.length + ", " + ends.length
                    + ", " + axes.length + " and " + steps.length);
        }
        List<Range> ranges = new ArrayList<>();
        for (int i = 0; i < starts.length; i++) {
            int axis = at.axis(axes.length == 0 ? i : axes[i], at.in(0).rank());
            if (ranges.stream().anyMatch(range -> range.axis == axis)) {
                throw at.error("expected every axis once, found " + axis + " twice");
            }
            ranges.add(Range.of(at, axis, starts[i], ends[i], steps.length == 0 ? 1 : steps[i]));
        }
        return ranges;
    }

    static BoundOperator slice(NodeContext at) {
        if (at.isConstant()) {
            HostTensor part = at.constant(0);
            for (Range range : ranges(at)) {
                part = HostMath.take(at, part, range.axis, range.count, i -> range.start + i * range.step);
            }
            return at.constants(part);
        }
        Operand x = at.in(0);
        Shape shape = x.shape();
        List<Range> ranges = new ArrayList<>();
        for (Range range : ranges(at)) {
            if (range.start != 0 || range.step != 1 || range.count != shape.at(range.axis)) {
                at.requireNoImages(x, range.axis);
                ranges.add(range);
            }
            shape = shape.with(range.axis, range.count);
        }
        return at.of(x.to(shape), in -> {
            Var part = in.get(0);
            for (Range range : ranges) {
                part = range.step == 1
                        ? part.slice(range.axis, range.start, range.start + range.count)
                        : part.select(range.axis, in.indexes(range.indexes()), true);
            }
            return part;
        });
    }

    static BoundOperator split(NodeContext at) {
        Operand x = at.in(0);
        int axis = at.axis(0);
        long size = x.size(axis);
        int count = at.node().outputs().size();
        long each = Math.ceilDiv(size, count);
        long[] given = at.integers(1);
        long[] parts = given.length > 0
                ? given
                : LongStream.range(0, count)
                        .map(i -> Math.max(0, Math.min(each, size - i * each)))
                        .toArray();
        if (parts.length != count
                || Arrays.stream(parts).anyMatch(part -> part < 0 || part > size)
                || Arrays.stream(parts).sum() != size) {
            throw at.error("expected " + count + " parts of " + size + ", found " + Arrays.toString(parts));
        }
        long[] starts = new long[count];
        for (int i = 1; i < count; i++) {
            starts[i] = starts[i - 1] + parts[i - 1];
        }
        IntStream all = IntStream.range(0, count);
        if (at.isConstant()) {
            return at.constants(all.mapToObj(
                            i -> HostMath.take(at, at.constant(0), axis, parts[i], index -> starts[i] + index))
                    .toArray(HostTensor[]::new));
        }
        at.requireNoImages(x, axis);
        List<Operand> results =
                all.mapToObj(i -> x.to(x.shape().with(axis, parts[i]))).toList();
        return new BoundOperator(
                at,
                results,
                in -> IntStream.range(0, count)
                        .mapToObj(i -> in.get(0).slice(axis, starts[i], starts[i] + parts[i]))
                        .toList());
    }

    static BoundOperator gather(NodeContext at) {
        Operand x = at.in(0);
        int axis = at.axis(0);
        long size = x.size(axis);
        Shape taken = at.constant(1).shape();
        long[] indexes = at.constant(1).integers();
        for (int i = 0; i < indexes.length; i++) {
            if (indexes[i] < -size || indexes[i] >= size) {
                throw at.error("expected indexes from " + -size + " to " + (size - 1) + " of dimension " + axis
                        + ", found " + indexes[i]);
            }
            indexes[i] += indexes[i] < 0 ? size : 0;
        }
        Shape shape = at.shape(LongStream.concat(
                        LongStream.concat(Arrays.stream(x.shape().sizes()).limit(axis), Arrays.stream(taken.sizes())),
                        Arrays.stream(x.shape().sizes()).skip(axis + 1L))
                .toArray());
        if (at.isConstant()) {
            return at.constants(HostMath.take(at, at.constant(0), axis, indexes.length, i -> indexes[(int) i])
                    .reshape(shape));
        }
        at.requireNoImages(x, axis);
        Operand result = x.to(shape, axis < x.batch() ? x.batch() + taken.rank() - 1 : x.batch());
        boolean distinct = Arrays.stream(indexes).distinct().count() == indexes.length;
        return at.of(result, in -> {
            Var part = indexes.length == 1
                    ? in.get(0).slice(axis, indexes[0], indexes[0] + 1)
                    : in.get(0).select(axis, in.indexes(indexes), distinct);
            return taken.rank() == 1 ? part : part.reshape(at.sizes(result));
        });
    }

    @SuppressWarnings("ArrayRecordComponent") // never changed
    public record Reduction(int[] axes, Shape kept, Shape result) {}

    /** Returns the dimensions and shapes of ReduceMean and the like; without axes all dimensions are reduced. */
    public static Reduction reduction(NodeContext at) {
        OnnxNode node = at.node();
        Shape x = at.in(0).shape();
        long[] given = at.integers(1);
        boolean none = given.length == 0 && node.integer("noop_with_empty_axes", 0) == 1;
        int[] axes = given.length == 0 && !none
                ? IntStream.range(0, x.rank()).toArray()
                : Arrays.stream(given)
                        .mapToInt(i -> at.axis(i, x.rank()))
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

    /** ReduceMean or ReduceSum of data. */
    static BoundOperator reduce(NodeContext at, boolean mean) {
        Operand x = at.in(0);
        Reduction reduction = reduction(at);
        int[] axes = reduction.axes;
        Arrays.stream(axes).forEach(axis -> at.requireNoImages(x, axis));
        boolean kept = reduction.kept.equals(reduction.result);
        int gone = kept
                ? 0
                : (int) Arrays.stream(axes).filter(axis -> axis < x.batch()).count();
        Operand result = x.to(reduction.result, x.batch() - gone);
        boolean global = mean
                && x.rank() == 4
                && x.batch() == 0
                && Arrays.equals(Arrays.stream(axes).sorted().toArray(), new int[] {2, 3});
        double factor = mean ? (double) reduction.kept.elements() / x.shape().elements() : 1;
        return at.map(result, v -> {
            Var sums = global ? FeatureMaps.globalAveragePool(v) : v.sum(axes).mul(factor);
            return kept ? sums : sums.reshape(at.sizes(result));
        });
    }
}
