package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sliding window over feature maps {@code [n, c, h, w]}, with maximum and average pooling.
 *
 * @param size rows and columns of the window
 * @param stride step between windows
 * @param padding rows and columns added on each side: zeros, or minus infinity for maximum pooling
 * @param ceil whether windows may reach beyond the padded border (Caffe's rounding)
 */
public record Window(Pair size, Pair stride, Pair padding, boolean ceil) {
    public Window {
        if (size.least() < 1 || stride.least() < 1 || padding.least() < 0) {
            throw new IllegalArgumentException("a window needs size >= 1, stride >= 1 and padding >= 0, found size "
                    + size + ", stride " + stride + ", padding " + padding);
        }
    }

    /** Vertical and horizontal value. */
    public record Pair(int vertical, int horizontal) {
        int least() {
            return Math.min(vertical, horizontal);
        }

        /** Returns both values in this order. */
        public long[] toLongs() {
            return new long[] {vertical, horizontal};
        }

        MemorySegment in(Arena arena) {
            return arena.allocateFrom(JAVA_LONG, vertical, horizontal);
        }
    }

    /** Maximum of each window and its position, encoded for {@link #maxBackward}. */
    public record Maxima(Tensor values, Tensor places) {}

    /** Returns a square window without padding. */
    public static Window of(int size, int stride) {
        return new Window(new Pair(size, size), new Pair(stride, stride), new Pair(0, 0), false);
    }

    /** Returns this window with padding on each side. */
    public Window padded(int rows, int columns) {
        return new Window(size, stride, new Pair(rows, columns), ceil);
    }

    /** Returns this window with incomplete windows at the end included. */
    public Window roundedUp() {
        return new Window(size, stride, padding, true);
    }

    /** Computes the maximum of each window. */
    public Maxima max(Tensor input) {
        check("max pooling", input);
        @Nullable
        Tensor[] results = DeviceFunctions.results(
                "max pooling",
                2,
                (arena, out) -> {
                    MemorySegment x = input.handle();
                    MemorySegment k = size.in(arena);
                    MemorySegment s = stride.in(arena);
                    MemorySegment p = padding.in(arena);
                    MemorySegment ones = new Pair(1, 1).in(arena);
                    MethodHandle f = DeviceFunctions.of(input).maxPool;
                    return (int) f.invokeExact(x, k, 2L, s, 2L, p, 2L, ones, 2L, ceil ? 1 : 0, out, out.asSlice(8));
                },
                input);
        return new Maxima(Objects.requireNonNull(results[0]), Objects.requireNonNull(results[1]));
    }

    /** Computes the gradient of {@link #max} with respect to its input. */
    public Tensor maxBackward(Tensor gradient, Tensor input, Tensor places) {
        checkBackward("backward of max pooling", gradient, input);
        Checks.sameShape("backward of max pooling", gradient, places);
        return DeviceFunctions.result(
                "backward of max pooling",
                (arena, out) -> {
                    MemorySegment x = input.handle();
                    MemorySegment k = size.in(arena);
                    MemorySegment s = stride.in(arena);
                    MemorySegment p = padding.in(arena);
                    MemorySegment ones = new Pair(1, 1).in(arena);
                    MemorySegment g = gradient.handle();
                    MemorySegment at = places.handle();
                    MethodHandle f = DeviceFunctions.of(input).maxPoolBackward;
                    return (int) f.invokeExact(g, x, k, 2L, s, 2L, p, 2L, ones, 2L, ceil ? 1 : 0, at, out);
                },
                input);
    }

    /** Computes the mean of each window, padding counted as zeros. */
    public Tensor average(Tensor input) {
        check("average pooling", input);
        return DeviceFunctions.result(
                "average pooling",
                (arena, out) -> {
                    MemorySegment x = input.handle();
                    MemorySegment k = size.in(arena);
                    MemorySegment s = stride.in(arena);
                    MemorySegment p = padding.in(arena);
                    MethodHandle f = DeviceFunctions.of(input).averagePool;
                    return (int) f.invokeExact(x, k, 2L, s, 2L, p, 2L, ceil ? 1 : 0, 1, MemorySegment.NULL, out);
                },
                input);
    }

    /** Computes the gradient of {@link #average} with respect to its input. */
    public Tensor averageBackward(Tensor gradient, Tensor input) {
        checkBackward("backward of average pooling", gradient, input);
        return DeviceFunctions.result(
                "backward of average pooling",
                (arena, out) -> {
                    MemorySegment x = input.handle();
                    MemorySegment k = size.in(arena);
                    MemorySegment s = stride.in(arena);
                    MemorySegment p = padding.in(arena);
                    MemorySegment g = gradient.handle();
                    MethodHandle f = DeviceFunctions.of(input).averagePoolBackward;
                    return (int) f.invokeExact(g, x, k, 2L, s, 2L, p, 2L, ceil ? 1 : 0, 1, MemorySegment.NULL, out);
                },
                input);
    }

    private void checkBackward(String operation, Tensor gradient, Tensor input) {
        check(operation, input);
        Checks.sameKind(operation, gradient, input);
        Shape wanted = outputs(input.shape());
        if (!gradient.shape().equals(wanted)) {
            throw Checks.mismatch(operation, gradient, input, "the gradient must have the result's shape " + wanted);
        }
    }

    /** Returns the output shape for maps {@code [..., h, w]}; a size is 0 if the window does not fit. */
    public Shape outputs(Shape maps) {
        return maps.with(-2, count(maps.at(-2), size.vertical(), stride.vertical(), padding.vertical()))
                .with(-1, count(maps.at(-1), size.horizontal(), stride.horizontal(), padding.horizontal()));
    }

    /** Returns the number of windows along a side; rounded up, the last must start inside the maps or their leading padding. */
    private long count(long side, long windowSize, long step, long border) {
        long room = side + 2 * border - windowSize;
        if (room < 0) {
            return 0;
        }
        long count = (ceil ? Math.ceilDiv(room, step) : room / step) + 1;
        return ceil && (count - 1) * step >= side + border ? count - 1 : count;
    }

    private void check(String operation, Tensor input) {
        Checks.rank(operation, input, 4);
        Checks.floating(operation, input);
        if (padding.vertical() > size.vertical() / 2
                || padding.horizontal() > size.horizontal() / 2
                || size.vertical() > input.size(2) + 2L * padding.vertical()
                || size.horizontal() > input.size(3) + 2L * padding.horizontal()) {
            throw new IllegalArgumentException(
                    operation + ": a window of " + size + " padded by " + padding + " does not fit " + input
                            + "; expected a window within the padded maps and padding of at most half the window");
        }
    }
}
