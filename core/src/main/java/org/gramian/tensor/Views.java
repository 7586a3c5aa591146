package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Views of the same elements without copying (reshape, transpose, slice, expand), and concatenation. */
public final class Views {
    private static final class Operators {
        static final Operator CONTIGUOUS = Operator.of("contiguous");
        static final Operator INDEX_SELECT = Operator.of("index_select");
        static final Operator INDEX_COPY = Operator.of("index_copy_");
        static final Operator SCATTER_ADD = Operator.of("scatter_add_");
    }

    /** {@code c10::MemoryFormat::ChannelsLast}. */
    private static final long CHANNELS_LAST = 2;

    private Views() {}

    private static Tensor view(Tensor source, long[] sizes, long[] strides, long offset) {
        return new Tensor(Native.view(source.handle(), sizes, strides, offset), source.anchor);
    }

    /** Returns the tensor itself if it is contiguous, else a contiguous copy. */
    public static Tensor contiguous(Tensor source) {
        return source.isContiguous() ? source : Operators.CONTIGUOUS.call(source, 0L);
    }

    /**
     * Returns feature maps {@code [n, c, h, w]} in channels-last memory format, as bfloat16 convolutions on a GPU need
     * it: the tensor itself or a copy of the same shape.
     */
    public static Tensor channelsLast(Tensor maps) {
        Checks.rank("channels last", maps, 4);
        boolean done = Arrays.equals(maps.strides(), channelsLastStrides(maps.shape()));
        return done ? maps : Operators.CONTIGUOUS.call(maps, CHANNELS_LAST);
    }

    /**
     * Returns bfloat16 feature maps or filters of a GPU in channels-last format, which tensor cores need; other tensors
     * unchanged.
     */
    public static Tensor forTensorCores(Tensor tensor) {
        boolean wanted = tensor.type() == DType.BF16 && tensor.device().kind() == Device.Kind.CUDA;
        return wanted ? channelsLast(tensor) : tensor;
    }

    static long[] channelsLastStrides(Shape maps) {
        return new long[] {maps.at(1) * maps.at(2) * maps.at(3), 1, maps.at(1) * maps.at(3), maps.at(1)};
    }

    /** Returns another handle on the same elements. */
    public static Tensor alias(Tensor source) {
        return view(source, source.shape().sizes(), source.strides(), 0);
    }

    /** Reshapes in row-major order; copies only if the tensor is not contiguous. */
    public static Tensor reshape(Tensor source, long... sizes) {
        Shape shape = Shape.of(sizes);
        if (shape.elements() != source.shape().elements()) {
            throw new IllegalArgumentException("reshape: " + source + " has "
                    + source.shape().elements() + " elements, the shape " + shape + " has " + shape.elements());
        }
        try (Scope scope = Scope.open()) {
            return scope.keep(view(contiguous(source), sizes, shape.strides(), 0));
        }
    }

    /** Returns the elements of a {@linkplain Tensor#isDense dense} tensor in the order of memory, {@code [elements]}. */
    static Tensor flat(Tensor source) {
        return view(source, new long[] {source.shape().elements()}, new long[] {1}, 0);
    }

    /** Swaps two dimensions. */
    public static Tensor transpose(Tensor source, int first, int second) {
        int i = source.shape().index(first);
        int j = source.shape().index(second);
        long[] sizes = source.shape().sizes();
        long[] strides = source.strides();
        swap(sizes, i, j);
        swap(strides, i, j);
        return view(source, sizes, strides, 0);
    }

    private static void swap(long[] values, int i, int j) {
        long kept = values[i];
        values[i] = values[j];
        values[j] = kept;
    }

    /** Reorders dimensions: dimension i of the result is dimension {@code order[i]} of the source. */
    public static Tensor permute(Tensor source, int... order) {
        long[] strides = source.strides();
        boolean each = IntStream.range(0, strides.length)
                .allMatch(i -> IntStream.of(order).anyMatch(j -> i == j));
        if (order.length != strides.length || !each) {
            throw new IllegalArgumentException(
                    "permute: expected each dimension of " + source + " once, found " + Arrays.toString(order));
        }
        return view(
                source,
                IntStream.of(order).mapToLong(source::size).toArray(),
                IntStream.of(order).mapToLong(i -> strides[i]).toArray(),
                0);
    }

    /** Splits one dimension into several, in row-major order, without copying. */
    public static Tensor split(Tensor source, int dimension, long... sizes) {
        int along = source.shape().index(dimension);
        Shape parts = Shape.of(sizes);
        if (parts.elements() != source.size(along)) {
            throw new IllegalArgumentException(
                    "split: dimension " + dimension + " of " + source + " cannot become " + parts);
        }
        List<Long> all = list(source.shape().sizes());
        List<Long> strides = list(source.strides());
        all.remove(along);
        long step = strides.remove(along);
        all.addAll(along, list(sizes));
        strides.addAll(
                along, list(LongStream.of(parts.strides()).map(s -> s * step).toArray()));
        return view(source, array(all), array(strides), 0);
    }

    /** Transposes a batch of matrices: swaps the last two dimensions. */
    public static Tensor transpose(Tensor matrices) {
        return transpose(matrices, -2, -1);
    }

    /** Returns the elements from {@code start} (inclusive) to {@code end} (exclusive) along one dimension. */
    public static Tensor slice(Tensor source, int dimension, long start, long end) {
        int i = source.shape().index(dimension);
        if (start < 0 || end < start || end > source.size(i)) {
            throw new IllegalArgumentException("slice: from " + start + " to " + end + " along dimension " + dimension
                    + " does not lie within " + source);
        }
        long[] strides = source.strides();
        return view(source, source.shape().with(i, end - start).sizes(), strides, start * strides[i]);
    }

    /** Inserts a dimension of size 1 before the given index. */
    public static Tensor unsqueeze(Tensor source, int place) {
        List<Long> sizes = list(source.shape().sizes());
        List<Long> strides = list(source.strides());
        int i = place < 0 ? place + sizes.size() + 1 : place;
        sizes.add(i, 1L);
        strides.add(i, 1L);
        return view(source, array(sizes), array(strides), 0);
    }

    /** Repeats dimensions of size 1 to the given sizes without copying. */
    public static Tensor expand(Tensor source, long... sizes) {
        long[] strides = source.strides();
        if (sizes.length != strides.length) {
            throw new IllegalArgumentException("expand: " + source + " cannot become " + Shape.of(sizes));
        }
        for (int i = 0; i < sizes.length; i++) {
            if (source.size(i) != sizes[i]) {
                if (source.size(i) != 1) {
                    throw new IllegalArgumentException("expand: " + source + " cannot become " + Shape.of(sizes));
                }
                strides[i] = 0;
            }
        }
        return view(source, sizes, strides, 0);
    }

    /** Returns the diagonals of matrices {@code [..., m, n]} as a writable view {@code [..., min(m, n)]}. */
    public static Tensor diagonal(Tensor matrices) {
        List<Long> sizes = list(matrices.shape().sizes());
        List<Long> strides = list(matrices.strides());
        long size = Math.min(sizes.removeLast(), sizes.removeLast());
        long stride = strides.removeLast() + strides.removeLast();
        sizes.add(size);
        strides.add(stride);
        return view(matrices, array(sizes), array(strides), 0);
    }

    /** Gathers the entries at the given indexes along a dimension. */
    public static Tensor select(Tensor source, int dimension, Tensor places) {
        requirePlaces("select", source, places);
        return Operators.INDEX_SELECT.call(source, (long) source.shape().index(dimension), places);
    }

    /** Writes entries to distinct indexes along a dimension of an existing tensor. */
    public static Tensor put(Tensor target, int dimension, Tensor places, Tensor entries) {
        Checks.sameKind("put", target, entries);
        requirePlaces("put", target, places);
        if (!entries.shape().equals(target.shape().with(dimension, places.size(0)))) {
            throw Checks.mismatch("put", target, entries, "expected entries for " + places.size(0) + " indices");
        }
        return Operators.INDEX_COPY.inPlace(target, (long) target.shape().index(dimension), places, entries);
    }

    /** Adds entries at indexes along a dimension of an existing tensor; an index may occur several times. */
    public static Tensor addAt(Tensor target, int dimension, Tensor places, Tensor entries) {
        Checks.sameKind("add", target, entries);
        requirePlaces("add", target, places);
        int along = target.shape().index(dimension);
        if (!entries.shape().equals(target.shape().with(along, places.size(0)))) {
            throw Checks.mismatch("add", target, entries, "expected entries for " + places.size(0) + " indices");
        }
        try (Scope _ = Scope.open()) {
            long[] column = new long[target.shape().rank()];
            Arrays.fill(column, 1);
            column[along] = places.size(0);
            Tensor each = expand(reshape(places, column), entries.shape().sizes());
            return Operators.SCATTER_ADD.inPlace(target, (long) along, each, entries);
        }
    }

    private static void requirePlaces(String operation, Tensor source, Tensor places) {
        if (places.type() != DType.I64
                || places.shape().rank() != 1
                || !places.device().equals(source.device())) {
            throw Checks.mismatch(operation, source, places, "expected a list of I64 indices on the same device");
        }
    }

    /** Concatenates tensors along one dimension; the other sizes must be equal. */
    public static Tensor concat(List<Tensor> parts, int dimension) {
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("concat: expected at least one tensor, found none");
        }
        Tensor first = parts.getFirst();
        int along = first.shape().index(dimension);
        for (Tensor part : parts) {
            Checks.sameKind("concat", first, part);
            if (part.shape().rank() != first.shape().rank()
                    || !part.shape().with(along, 0).equals(first.shape().with(along, 0))) {
                throw Checks.mismatch(
                        "concat", first, part, "sizes other than of dimension " + along + " must be equal");
            }
        }
        return DeviceFunctions.result(
                "concat",
                (arena, out) -> {
                    MemorySegment handles = arena.allocate(ADDRESS, parts.size());
                    for (int i = 0; i < parts.size(); i++) {
                        handles.setAtIndex(ADDRESS, i, parts.get(i).handle());
                    }
                    return (int) DeviceFunctions.of(first)
                            .concat
                            .invokeExact(handles, (long) parts.size(), (long) along, out);
                },
                parts.toArray(Tensor[]::new));
    }

    private static List<Long> list(long[] values) {
        List<Long> list = new ArrayList<>();
        for (long value : values) {
            list.add(value);
        }
        return list;
    }

    private static long[] array(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).toArray();
    }
}
