package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Objects;
import org.gramian.tensor.Convolution.Window.Pair;
import org.gramian.tensor.library.Libtorch;
import org.jspecify.annotations.Nullable;

/**
 * Two-dimensional convolution over feature maps {@code [n, c, h, w]}.
 *
 * @param stride step between windows
 * @param padding rows and columns of zeros added on each side
 * @param dilation step between the elements of a window
 * @param groups number of channel groups that are convolved separately
 * @since 0.1
 */
public record Convolution(Pair stride, Pair padding, Pair dilation, int groups) {
    private static final boolean X86_64 = System.getProperty("os.arch").equals("amd64");

    public Convolution {
        if (stride.least() < 1 || padding.least() < 0 || dilation.least() < 1 || groups < 1) {
            throw new IllegalArgumentException(
                    "a convolution needs stride >= 1, padding >= 0, dilation >= 1 and groups >= 1, found stride "
                            + stride + ", padding " + padding + ", dilation " + dilation + ", groups " + groups);
        }
    }

    /** Creates a convolution with equal strides and equal padding in both directions, without dilation. */
    public Convolution(int stride, int padding, int groups) {
        this(new Pair(stride, stride), new Pair(padding, padding), new Pair(1, 1), groups);
    }

    /**
     * Gradients of a convolution; null where not requested.
     *
     * @param input {@code [n, c, h, w]}
     * @param weight {@code [k, c/groups, s, t]}
     * @param bias {@code [k]}
     */
    public record Gradients(
            @Nullable Tensor input,
            @Nullable Tensor weight,
            @Nullable Tensor bias) {}

    /** Returns a convolution of stride 1 without padding and with one group. */
    public static Convolution plain() {
        return new Convolution(1, 0, 1);
    }

    /**
     * Computes the cross-correlation with weights plus one bias per output channel. The result may be in
     * channels-last format.
     *
     * @param maps {@code [n, c, h, w]}
     * @param weight {@code [k, c/groups, s, t]}
     * @param bias {@code [k]}, or null
     * @return {@code [n, k, h', w']}
     */
    public Tensor apply(Tensor maps, Tensor weight, @Nullable Tensor bias) {
        checkAll(maps, weight, bias);
        Tensor input = inFastestFormat(maps, weight);
        return DeviceFunctions.result(
                "conv2d",
                (arena, out) -> {
                    MemorySegment x = input.handle();
                    MemorySegment w = weight.handle();
                    MemorySegment b = bias == null ? MemorySegment.NULL : arena.allocateFrom(ADDRESS, bias.handle());
                    MemorySegment steps = stride.in(arena);
                    MemorySegment zeroRows = padding.in(arena);
                    MemorySegment gaps = dilation.in(arena);
                    MemorySegment zeros = new Pair(0, 0).in(arena);
                    long g = groups;
                    MethodHandle f = DeviceFunctions.of(input).convolution;
                    return (int) f.invokeExact(x, w, b, steps, 2L, zeroRows, 2L, gaps, 2L, 0, zeros, 2L, g, out);
                },
                input,
                weight);
    }

    /**
     * Computes the gradients of {@link #apply}; that of the weights may be in channels-last format.
     *
     * @param gradient gradient of the result {@code [n, k, h', w']}
     * @param wanted which of the gradients of input, weight and bias to compute
     */
    public Gradients backward(Tensor gradient, Tensor maps, Tensor weight, boolean[] wanted) {
        checkGradient(gradient, maps, weight);
        check(maps, weight);
        Tensor input = inFastestFormat(maps, weight);
        @Nullable
        Tensor[] gradients = DeviceFunctions.results(
                "backward of conv2d",
                3,
                (arena, out) -> {
                    MemorySegment g = gradient.handle();
                    MemorySegment x = input.handle();
                    MemorySegment w = weight.handle();
                    MemorySegment b = arena.allocateFrom(ADDRESS, arena.allocateFrom(JAVA_LONG, weight.size(0)));
                    MemorySegment steps = stride.in(arena);
                    MemorySegment zeroRows = padding.in(arena);
                    MemorySegment gaps = dilation.in(arena);
                    MemorySegment zeros = new Pair(0, 0).in(arena);
                    MemorySegment mask =
                            arena.allocateFrom(JAVA_INT, wanted[0] ? 1 : 0, wanted[1] ? 1 : 0, wanted[2] ? 1 : 0);
                    // null skips a gradient; otherwise it comes back as an invalid handle
                    MemorySegment dx = wanted[0] ? out : MemorySegment.NULL;
                    MemorySegment dw = wanted[1] ? out.asSlice(8) : MemorySegment.NULL;
                    MemorySegment db = wanted[2] ? out.asSlice(16) : MemorySegment.NULL;
                    long k = groups;
                    MethodHandle f = DeviceFunctions.of(input).convolutionBackward;
                    return (int) f.invokeExact(
                            g, x, w, b, 1L, steps, 2L, zeroRows, 2L, gaps, 2L, 0, zeros, 2L, k, mask, 3L, dx, dw, db);
                },
                input,
                weight);
        return new Gradients(gradients[0], gradients[1], gradients[2]);
    }

    /** Returns the output shape for shapes of maps and weights. */
    public Shape output(Shape maps, Shape weight) {
        long rows = windows(maps.at(2), weight.at(2), stride.vertical(), padding.vertical(), dilation.vertical());
        long columns =
                windows(maps.at(3), weight.at(3), stride.horizontal(), padding.horizontal(), dilation.horizontal());
        return Shape.of(maps.at(0), weight.at(0), rows, columns);
    }

    /** Returns the number of windows along the height; 0 if a window does not fit. */
    public long windows(long side, long size) {
        return windows(side, size, stride.vertical(), padding.vertical(), dilation.vertical());
    }

    private static long windows(long side, long size, long step, long border, long gap) {
        return Math.max(0, Math.floorDiv(side + 2 * border - (size - 1) * gap - 1, step) + 1);
    }

    private void checkGradient(Tensor gradient, Tensor input, Tensor weight) {
        Checks.sameKind("backward of conv2d", gradient, input);
        Shape wanted = output(input.shape(), weight.shape());
        if (!gradient.shape().equals(wanted)) {
            throw Checks.mismatch(
                    "backward of conv2d", gradient, input, "the gradient must have the result's shape " + wanted);
        }
    }

    /**
     * Returns feature maps in the fastest memory format for a convolution on the CPU: channels last, where oneDNN on x86-64
     * otherwise reorders the maps of every layer, and matrix products on arm64 read longer rows. On arm64, where a grouped
     * convolution of such maps is slow, maps are contiguous for it. Results and gradients keep the format, so a network pays for
     * one reordering. A 1×1 convolution keeps the format of its input.
     */
    private Tensor inFastestFormat(Tensor maps, Tensor weight) {
        boolean pointwise = weight.size(2) == 1 && weight.size(3) == 1;
        boolean floating = maps.type() == DType.F32 || maps.type() == DType.BF16;
        if (pointwise || !floating || maps.device().kind() != Device.Kind.CPU) {
            return maps;
        }
        if (Libtorch.ARM64 && groups > 1) {
            return maps.contiguous();
        }
        return (X86_64 || Libtorch.ARM64) && maps.isContiguous() ? maps.channelsLast() : maps;
    }

    private void checkAll(Tensor input, Tensor weight, @Nullable Tensor bias) {
        check(input, weight);
        if (bias != null) {
            Checks.sameKind("conv2d", weight, bias);
            if (!bias.shape().equals(Shape.of(weight.size(0)))) {
                throw Checks.mismatch("conv2d", weight, bias, "expected one bias per output channel");
            }
        }
    }

    private void check(Tensor input, Tensor weight) {
        Checks.rank("conv2d", input, 4);
        Checks.rank("conv2d", weight, 4);
        Checks.sameKind("conv2d", input, weight);
        if (input.size(1) != weight.size(1) * groups || weight.size(0) % groups != 0) {
            throw Checks.mismatch(
                    "conv2d", input, weight, "channels must be the weights' second size times groups = " + groups);
        }
        if (output(input.shape(), weight.shape()).elements() == 0
                && input.shape().elements() > 0) {
            throw Checks.mismatch(
                    "conv2d", input, weight, "the kernel is larger than the feature maps padded by " + padding);
        }
    }

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
                throw Checks.mismatch(
                        operation, gradient, input, "the gradient must have the result's shape " + wanted);
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
}
