package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.Var;
import org.gramian.backbone.onnx.Planned.Site;
import org.gramian.tensor.Shape;

/** Operators of ONNX on the tape that reduce, rearrange, join or divide tensors. */
final class ShapeOperators {
    private ShapeOperators() {}

    static Planned reduce(Site at, boolean mean) {
        Operand x = at.in(0);
        ShapeRules.Reduction reduction = ShapeRules.reduction(at.node(), x.shape(), at.inputs());
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
        return Planned.of(result, v -> {
            Var sums = global ? FeatureMaps.globalAveragePool(v) : v.sum(axes).mul(factor);
            return kept ? sums : sums.reshape(at.sizes(result));
        });
    }

    /** Reshape, Flatten, Squeeze and Unsqueeze. */
    static Planned reshape(Site at) {
        Operand x = at.in(0);
        Shape shape = ShapeRules.reshaped(at.node(), at.inputs());
        Operand result = x.data() ? images(at, x, shape) : x.to(shape);
        return Planned.of(result, v -> v.reshape(at.sizes(result)));
    }

    /**
     * Finds the images after a change of shape: they are in a dimension with as many elements before them as there were.
     *
     * <p>In the shapes of one image several dimensions may fit. One of size 1 is chosen first. Else {@code [t, 1, d]}
     * becomes the rows {@code [t·1, d]} of a linear layer if two dimensions remain, and the heads {@code [t, 1·h, e]} of
     * attention if more do.
     */
    private static Operand images(Site at, Operand x, Shape shape) {
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
                throw at.node()
                        .error("expected a shape that keeps the images apart, found " + x.shape() + " to " + shape
                                + "; export with a dynamic batch size: dynamic_axes={'images': {0: 'n'}}");
            }
            return x.to(shape, 0);
        }
        return found.stream()
                .filter(operand -> operand.outer() == 1 && operand.size(operand.batch()) == at.batch())
                .findFirst()
                .orElseGet(() -> shape.rank() == 2 ? found.getFirst() : found.getLast());
    }

    static Planned transpose(Site at) {
        Operand x = at.in(0);
        int[] order = ShapeRules.permutation(at.node(), x.rank());
        int batch = IntStream.range(0, order.length)
                .filter(i -> order[i] == x.batch())
                .findFirst()
                .orElse(-1);
        return Planned.of(x.to(ShapeRules.permuted(x.shape(), order), batch), v -> v.permute(order));
    }

    static Planned expand(Site at) {
        Operand x = at.in(0);
        Shape wanted = ShapeRules.shape(at.node(), at.list(1, ""));
        Shape shape = ShapeRules.broadcast(x.shape(), wanted, at.node());
        Operand result = x.to(shape, x.batch() + shape.rank() - x.rank());
        return Planned.of(result, v -> {
            long[] own = new long[shape.rank()];
            Arrays.fill(own, 1);
            System.arraycopy(v.shape().sizes(), 0, own, shape.rank() - x.rank(), x.rank());
            return v.reshape(own).expand(at.sizes(result));
        });
    }

    static Planned concat(Site at) {
        int axis =
                ShapeRules.axis(at.node(), at.node().whole("axis", 1), at.in(0).rank());
        Shape shape = ShapeRules.concatenated(
                at.node(), at.inputs().stream().map(Operand::shape).toList(), axis);
        int data = IntStream.range(0, at.inputs().size())
                .filter(i -> at.in(i).data())
                .findFirst()
                .orElse(0);
        int batch = at.in(data).batch();
        at.requireNoImages(at.in(data), axis);
        return new Planned(List.of(at.in(data).to(shape)), in -> {
            List<Var> parts = new ArrayList<>();
            for (int i = 0; i < at.inputs().size(); i++) {
                Var part = in.like(i, in.get(data));
                boolean once = batch >= 0 && !at.in(i).data() && at.images() > 1;
                Shape repeated = once ? part.shape().with(batch, part.shape().at(batch) * at.images()) : part.shape();
                parts.add(once ? part.expand(repeated.sizes()) : part);
            }
            return List.of(Var.concat(parts, axis));
        });
    }

    static Planned slice(Site at) {
        Operand x = at.in(0);
        Shape shape = x.shape();
        List<ShapeRules.Range> ranges = new ArrayList<>();
        for (ShapeRules.Range range : ShapeRules.ranges(at.node(), shape, at.inputs())) {
            boolean whole = range.start() == 0 && range.step() == 1 && range.count() == shape.at(range.axis());
            if (!whole) {
                at.requireNoImages(x, range.axis());
            }
            shape = shape.with(range.axis(), range.count());
            if (!whole) {
                ranges.add(range);
            }
        }
        Operand result = x.to(shape);
        return new Planned(List.of(result), in -> {
            Var part = in.get(0);
            for (ShapeRules.Range range : ranges) {
                part = range.step() == 1
                        ? part.slice(range.axis(), range.start(), range.start() + range.count())
                        : part.select(range.axis(), in.places(range.places()), true);
            }
            return List.of(part);
        });
    }

    static Planned split(Site at) {
        Operand x = at.in(0);
        int axis = ShapeRules.axis(at.node(), at.node().whole("axis", 0), x.rank());
        long[] parts = ShapeRules.parts(at.node(), x.size(axis), at.inputs());
        at.requireNoImages(x, axis);
        List<Operand> results = Arrays.stream(parts)
                .mapToObj(size -> x.to(x.shape().with(axis, size)))
                .toList();
        return new Planned(results, in -> {
            List<Var> slices = new ArrayList<>();
            long start = 0;
            for (long size : parts) {
                slices.add(in.get(0).slice(axis, start, start + size));
                start += size;
            }
            return slices;
        });
    }

    static Planned gather(Site at) {
        Operand x = at.in(0);
        int axis = ShapeRules.axis(at.node(), at.node().whole("axis", 0), x.rank());
        HostTensor index = ShapeRules.constant(at.node(), at.inputs(), 1);
        long size = x.size(axis);
        long[] places =
                Arrays.stream(index.longs()).map(i -> i < 0 ? i + size : i).toArray();
        at.requireNoImages(x, axis);
        if (Arrays.stream(places).anyMatch(i -> i < 0 || i >= size)) {
            throw at.node()
                    .error("expected indexes below " + size + ", found "
                            + Arrays.stream(places).limit(8).boxed().toList() + " of dimension " + axis);
        }
        Shape shape = ShapeRules.gathered(x.shape(), axis, index.shape());
        Operand result =
                x.to(shape, axis < x.batch() ? x.batch() + index.shape().rank() - 1 : x.batch());
        boolean one = places.length == 1;
        boolean distinct = Arrays.stream(places).distinct().count() == places.length;
        return new Planned(List.of(result), in -> {
            Var taken = one
                    ? in.get(0).slice(axis, places[0], places[0] + 1)
                    : in.get(0).select(axis, in.places(places), distinct);
            return List.of(index.shape().rank() == 1 ? taken : taken.reshape(at.sizes(result)));
        });
    }
}
