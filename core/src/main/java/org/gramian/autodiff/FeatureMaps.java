package org.gramian.autodiff;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.Arrays;
import java.util.List;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.tensor.Window;
import org.gramian.tensor.Window.Pair;
import org.jspecify.annotations.Nullable;

/** Differentiable functions of feature maps {@code [n, c, h, w]}: convolution, pooling, response normalization. */
public final class FeatureMaps {
    private FeatureMaps() {}

    /**
     * Convolves feature maps.
     *
     * @param input {@code [n, c, h, w]}
     * @param weight {@code [k, c/groups, s, t]}
     * @param bias {@code [k]}
     * @return {@code [n, k, h', w']}
     */
    public static Var convolve(Var input, Var weight, Var bias, Convolution convolution) {
        return convolve(input, new Filters(weight, bias), convolution, Activation.NONE);
    }

    /**
     * Computes convolution and activation in one node, which keeps only the activated maps, half of what two nodes
     * keep. Maps before the activation are kept as well if its derivative {@linkplain Activation#needsInput needs} them
     * and a gradient is wanted.
     *
     * <p>Maps in {@link DType#BF16} are convolved in that type (mixed precision): float32 filters are rounded for it
     * and get float32 gradients.
     */
    public static Var convolve(Var input, Filters filters, Convolution convolution, Activation activation) {
        Var weight = filters.weight();
        Var bias = filters.bias();
        DType exact = weight.value().type();
        boolean split = activation.needsInput() && filters.with(input).stream().anyMatch(Var::wantsGradient);
        return input.tape().apply(filters.with(input), () -> {
            Tensor x = Views.forTensorCores(input.value());
            Tensor w = convolution.prepared(weight.value(), x);
            Tensor saved =
                    convolution.apply(x, w, bias == null ? null : bias.value(), split ? Activation.NONE : activation);
            return Result.of(
                    split ? activation.apply(saved) : saved,
                    (g, wanted) -> {
                        boolean[] all = Arrays.copyOf(wanted, 3); // no gradient for an absent bias
                        Convolution.Gradients gradients =
                                convolution.backward(g, saved, new Convolution.Inputs(x, w), activation, all);
                        return list(gradients.input(), to(gradients.weight(), exact), to(gradients.bias(), exact));
                    },
                    w,
                    x,
                    saved);
        });
    }

    private static @Nullable Tensor to(@Nullable Tensor gradient, DType type) {
        return gradient == null ? null : Tensors.to(gradient, type);
    }

    /** Computes the activation of the sum of two feature maps in one node. */
    public static Var add(Var a, Var b, Activation activation) {
        if (!a.shape().equals(b.shape())) {
            throw new IllegalArgumentException(
                    "sum: expected feature maps of the same shape, found " + a + " and " + b);
        }
        if (activation.needsInput()) {
            return Arithmetic.activate(add(a, b, Activation.NONE), activation);
        }
        return a.tape().apply(List.of(a, b), () -> {
            Tensor y = activation.inPlace(Elementwise.add(a.value(), b.value()));
            return Result.of(y, (g, wanted) -> {
                // otherwise the gradient would be converted in every block below
                Tensor both = activation.backward(Views.forTensorCores(g), y);
                return list(both, both);
            });
        });
    }

    /** Computes the maximum of each window. */
    public static Var maxPool(Var input, Window window) {
        return input.tape().apply(List.of(input), () -> {
            Window.Maxima maxima = window.max(input.value());
            return Result.of(
                    maxima.values(),
                    (g, wanted) -> list(window.maxBackward(g, input.value(), maxima.places())),
                    maxima.places());
        });
    }

    /** Computes the mean of each window, padding counted as zeros. */
    public static Var averagePool(Var input, Window window) {
        return Arithmetic.unary(input, window::average, (g, y) -> window.averageBackward(g, input.value()));
    }

    /** Averages each channel: {@code [n, c, h, w]} to {@code [n, c, 1, 1]}. */
    public static Var globalAveragePool(Var input) {
        Window.Pair size = new Window.Pair(
                Math.toIntExact(input.shape().at(-2)),
                Math.toIntExact(input.shape().at(-1)));
        return averagePool(input, new Window(size, size, new Window.Pair(0, 0), false));
    }

    /**
     * Computes local response normalization across channels, {@code x / (k + α·mean(x² over the window))^β}, as in
     * AlexNet and GoogLeNet.
     *
     * <p>The mean runs over {@code size} adjacent channels, missing ones counted as zeros. For {@link DType#BF16} it is
     * computed in float32, since {@code k} would absorb most of a small mean.
     */
    public static Var localResponseNorm(Var input, ResponseNorm norm) {
        if (input.value().type() == DType.BF16) {
            return Arithmetic.cast(localResponseNorm(Arithmetic.cast(input, DType.F32), norm), DType.BF16);
        }
        Tensor x = input.value();
        Var squares = Shapes.reshape(Arithmetic.mul(input, input), x.size(0), 1, x.size(1), x.size(2) * x.size(3));
        Var means = averagePool(squares, norm.window());
        Var denominators =
                Arithmetic.pow(Arithmetic.shift(Arithmetic.scale(means, norm.alpha()), norm.k()), norm.beta());
        return Arithmetic.div(input, Shapes.reshape(denominators, x.shape().sizes()));
    }

    /**
     * Filters of a convolution.
     *
     * @param weight {@code [filters, channels / groups, height, width]}
     * @param bias {@code [filters]}, or null
     */
    public record Filters(Var weight, @Nullable Var bias) {
        /** Returns the input of the convolution and the filters as inputs of one node. */
        List<Var> with(Var input) {
            return bias == null ? List.of(input, weight) : List.of(input, weight, bias);
        }
    }

    /**
     * Constants of local response normalization, {@code x / (k + α·mean(x²))^β}.
     *
     * @param size number of neighbouring channels, odd
     * @param alpha weight of the mean square
     * @param beta exponent
     * @param k constant added
     */
    public record ResponseNorm(int size, double alpha, double beta, double k) {
        public ResponseNorm {
            if (size < 1 || size % 2 == 0) {
                throw new IllegalArgumentException(
                        "local response norm needs an odd number of channels, found " + size);
            }
        }

        /** A window of {@code size} rows over channels laid out as rows. */
        Window window() {
            return new Window(new Pair(size, 1), new Pair(1, 1), new Pair(size / 2, 0), false);
        }
    }
}
