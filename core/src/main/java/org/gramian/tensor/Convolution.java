package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.gramian.tensor.ElementwiseKernels.ReluBound;
import org.jspecify.annotations.Nullable;

/**
 * A two-dimensional convolution over feature maps {@code [n, c, h, w]}: its geometry and its operators.
 *
 * @param stride step between windows
 * @param padding rows and columns of zeros added on each side
 * @param groups number of equal parts of the channels that are convolved separately
 */
public record Convolution(int stride, int padding, int groups) {
    public Convolution {
        if (stride < 1 || padding < 0 || groups < 1) {
            throw new IllegalArgumentException(
                    "a convolution needs stride >= 1, padding >= 0 and groups >= 1, found stride " + stride
                            + ", padding " + padding + ", groups " + groups);
        }
    }

    /** Gradients of a convolution, those that were asked for. */
    public record Gradients(
            @Nullable Tensor input,
            @Nullable Tensor weight,
            @Nullable Tensor bias) {}

    /** What was convolved, and with what. */
    public record Inputs(Tensor maps, Tensor weight) {}

    /** A convolution of stride 1 without padding, all channels together. */
    public static Convolution plain() {
        return new Convolution(1, 0, 1);
    }

    /**
     * Cross-correlation with weights {@code [k, c/groups, s, t]}, plus one bias per output map. The result's maps may lie
     * interleaved in memory ({@link ChannelsLast}).
     */
    public Tensor apply(Tensor maps, Tensor weight, @Nullable Tensor bias) {
        checkAll(maps, weight, bias);
        Tensor input = ChannelsLast.where(weight, maps);
        return DeviceFunctions.result(
                "conv2d",
                (arena, out) -> {
                    MemorySegment steps = pair(arena, stride);
                    MemorySegment zeroRows = pair(arena, padding);
                    MemorySegment ones = pair(arena, 1);
                    MemorySegment zeros = pair(arena, 0);
                    MemorySegment biasAt =
                            bias == null ? MemorySegment.NULL : arena.allocateFrom(ADDRESS, bias.handle());
                    return (int) DeviceFunctions.of(input)
                            .convolution
                            .invokeExact(
                                    input.handle(),
                                    weight.handle(),
                                    biasAt,
                                    steps,
                                    2L,
                                    zeroRows,
                                    2L,
                                    ones,
                                    2L,
                                    0,
                                    zeros,
                                    2L,
                                    (long) groups,
                                    out);
                },
                input,
                weight);
    }

    /** {@code max(apply(input, weight, bias), 0)}: in one pass by cuDNN where that has been fast. */
    public Tensor applyRelu(Tensor input, Tensor weight, @Nullable Tensor bias) {
        if (bias == null || !isFused(input)) {
            return Elementwise.reluInPlace(apply(input, weight, bias));
        }
        checkAll(input, weight, bias);
        long[] steps = {stride, stride};
        long[] zeroRows = {padding, padding};
        return Fused.CONVOLUTION_RELU.call(
                input, weight, Optional.of(bias), steps, zeroRows, new long[] {1, 1}, (long) groups);
    }

    private static boolean isFused(Tensor input) {
        return input.type() == DType.BF16
                && input.device().kind() == Device.Kind.CUDA
                && Libtorch.load().hasLists();
    }

    private static final class Fused {
        static final Operator CONVOLUTION_RELU = Operator.of("cudnn_convolution_relu");
    }

    /** Gradients of {@link #apply} for a gradient of its result: of input, weight and bias, where wanted. */
    public Gradients backward(Tensor gradient, Tensor maps, Tensor weight, boolean[] wanted) {
        check(maps, weight);
        checkGradient(gradient, maps, weight);
        Tensor input = ChannelsLast.where(weight, maps);
        @Nullable
        Tensor[] gradients = DeviceFunctions.results(
                "backward of conv2d",
                3,
                (arena, out) -> {
                    MemorySegment biasSizes =
                            arena.allocateFrom(ADDRESS, arena.allocateFrom(JAVA_LONG, weight.size(0)));
                    MemorySegment steps = pair(arena, stride);
                    MemorySegment zeroRows = pair(arena, padding);
                    MemorySegment ones = pair(arena, 1);
                    MemorySegment zeros = pair(arena, 0);
                    MemorySegment mask =
                            arena.allocateFrom(JAVA_INT, wanted[0] ? 1 : 0, wanted[1] ? 1 : 0, wanted[2] ? 1 : 0);
                    // an unwanted gradient would come back as a handle on nothing: null says to make none
                    MemorySegment ofInput = wanted[0] ? out : MemorySegment.NULL;
                    MemorySegment ofWeight = wanted[1] ? out.asSlice(8) : MemorySegment.NULL;
                    MemorySegment ofBias = wanted[2] ? out.asSlice(16) : MemorySegment.NULL;
                    return (int) DeviceFunctions.of(input)
                            .convolutionBackward
                            .invokeExact(
                                    gradient.handle(),
                                    input.handle(),
                                    weight.handle(),
                                    biasSizes,
                                    1L,
                                    steps,
                                    2L,
                                    zeroRows,
                                    2L,
                                    ones,
                                    2L,
                                    0,
                                    zeros,
                                    2L,
                                    (long) groups,
                                    mask,
                                    3L,
                                    ofInput,
                                    ofWeight,
                                    ofBias);
                },
                input,
                weight);
        Tensor ofWeight = gradients[1];
        // row by row, as the weights lie that it is to be subtracted from
        return new Gradients(gradients[0], ofWeight == null ? null : Views.contiguous(ofWeight), gradients[2]);
    }

    /** Gradients of {@link #applyRelu}, whose value is given, for a gradient of it. */
    public Gradients reluBackward(Tensor gradient, Tensor value, Inputs inputs, boolean[] wanted) {
        return rectifiedBackward(gradient, value, inputs, wanted, false);
    }

    /** Gradients of {@link #apply} followed by ReLU6, whose value is given, for a gradient of it. */
    public Gradients relu6Backward(Tensor gradient, Tensor value, Inputs inputs, boolean[] wanted) {
        return rectifiedBackward(gradient, value, inputs, wanted, true);
    }

    private Gradients rectifiedBackward(
            Tensor gradient, Tensor value, Inputs inputs, boolean[] wanted, boolean bounded) {
        if (!wanted[2] || gradient.type() != value.type() || !MapKernels.suitSums(value)) {
            Tensor passed =
                    bounded ? Elementwise.relu6Backward(gradient, value) : Elementwise.reluBackward(gradient, value);
            return backward(passed, inputs.maps, inputs.weight, wanted);
        }
        MapKernels.Passed passed = MapKernels.reluBackward(gradient, value, bounded ? ReluBound.SIX : ReluBound.NONE);
        boolean[] others = {wanted[0], wanted[1], false};
        Gradients gradients = backward(passed.input(), inputs.maps, inputs.weight, others);
        return new Gradients(gradients.input, gradients.weight, passed.sums());
    }

    /** Number of windows along a side of the maps; 0 where a window does not fit. */
    public long windows(long side, long size) {
        return Math.max(0, Math.floorDiv(side + 2L * padding - size, stride) + 1);
    }

    private void checkGradient(Tensor gradient, Tensor input, Tensor weight) {
        Checks.sameKind("backward of conv2d", gradient, input);
        Shape wanted = Shape.of(
                input.size(0),
                weight.size(0),
                windows(input.size(2), weight.size(2)),
                windows(input.size(3), weight.size(3)));
        if (!gradient.shape().equals(wanted)) {
            throw Checks.mismatch(
                    "backward of conv2d", gradient, input, "the gradient must have the result's shape " + wanted);
        }
    }

    private static MemorySegment pair(Arena arena, long value) {
        return arena.allocateFrom(JAVA_LONG, value, value);
    }

    private void checkAll(Tensor input, Tensor weight, @Nullable Tensor bias) {
        check(input, weight);
        if (bias != null) {
            Checks.sameKind("conv2d", weight, bias);
            if (!bias.shape().equals(Shape.of(weight.size(0)))) {
                throw Checks.mismatch("conv2d", weight, bias, "one bias per output channel is wanted");
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
        if (weight.size(2) > input.size(2) + 2L * padding || weight.size(3) > input.size(3) + 2L * padding) {
            throw Checks.mismatch("conv2d", input, weight, "the window is larger than the maps padded by " + padding);
        }
    }
}
