package org.gramian.autodiff;

import static org.gramian.autodiff.Adjoint.list;

import java.util.Arrays;
import java.util.List;
import org.gramian.tensor.Activation;
import org.gramian.tensor.ChannelsLast;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Window;
import org.jspecify.annotations.Nullable;

/** Differentiable functions of feature maps {@code [n, c, h, w]}: convolution, pooling, response normalization. */
public final class FeatureMaps {
    private FeatureMaps() {}

    /** Convolution with weights {@code [k, c/groups, s, t]} and biases {@code [k]}. */
    public static Var convolve(Var input, Var weight, Var bias, Convolution convolution) {
        return convolve(input, new Filters(weight, bias), convolution, Activation.NONE);
    }

    /** Convolution and ReLU in one node. */
    public static Var convolveRelu(Var input, Var weight, Var bias, Convolution convolution) {
        return convolve(input, new Filters(weight, bias), convolution, Activation.RELU);
    }

    /**
     * Convolution and activation in one node: only the activated maps are kept, half of what two nodes hold.
     *
     * <p>Feature maps of {@link DType#BF16} are convolved in that type: filters in single precision are rounded for it, and their
     * gradients come back in single precision, so that training moves the exact numbers.
     */
    public static Var convolve(Var input, Filters filters, Convolution convolution, Activation activation) {
        Var weight = filters.weight();
        Var bias = filters.bias();
        DType exact = weight.value().type();
        return input.tape().apply(filters.with(input), () -> {
            Tensor x = ChannelsLast.onTensorCores(input.value());
            Tensor w = convolution.prepared(weight.value(), x);
            Tensor y = convolution.apply(x, w, bias == null ? null : bias.value(), activation);
            return Result.of(
                    y,
                    (g, wanted) -> {
                        boolean[] all = Arrays.copyOf(wanted, 3); // without a bias its gradient is not wanted
                        Convolution.Gradients gradients =
                                convolution.backward(g, y, new Convolution.Inputs(x, w), activation, all);
                        return list(gradients.input(), to(gradients.weight(), exact), to(gradients.bias(), exact));
                    },
                    w,
                    x);
        });
    }

    private static @Nullable Tensor to(@Nullable Tensor gradient, DType type) {
        return gradient == null ? null : Tensors.to(gradient, type);
    }

    /** The sum of two maps of one shape, and its activation, in one node. */
    public static Var add(Var a, Var b, Activation activation) {
        if (!a.shape().equals(b.shape())) {
            throw new IllegalArgumentException(
                    "sum: expected feature maps of the same shape, found " + a + " and " + b);
        }
        return a.tape().apply(List.of(a, b), () -> {
            Tensor y = activation.inPlace(Elementwise.add(a.value(), b.value()));
            return Result.of(y, (g, wanted) -> {
                // a gradient in another order would keep it, and have it changed in every block below
                Tensor both = activation.backward(ChannelsLast.onTensorCores(g), y);
                return list(both, both);
            });
        });
    }

    /** The largest value of each window. */
    public static Var maxPool(Var input, Window window) {
        return input.tape().apply(List.of(input), () -> {
            Window.Maxima maxima = window.max(input.value());
            return Result.of(
                    maxima.values(),
                    (g, wanted) -> list(window.maxBackward(g, input.value(), maxima.places())),
                    maxima.places());
        });
    }

    /** The mean of each window, padding counted as zeros. */
    public static Var averagePool(Var input, Window window) {
        return input.tape()
                .apply(
                        List.of(input),
                        () -> Result.of(
                                window.average(input.value()),
                                (g, wanted) -> list(window.averageBackward(g, input.value()))));
    }

    /** The mean of each map: {@code [n, c, h, w]} to {@code [n, c, 1, 1]}. */
    public static Var globalAveragePool(Var input) {
        Window.Pair size = new Window.Pair(
                Math.toIntExact(input.shape().at(-2)),
                Math.toIntExact(input.shape().at(-1)));
        return averagePool(input, new Window(size, size, new Window.Pair(0, 0), false));
    }

    /**
     * Local response normalization across channels, {@code x / (k + α·mean(x² over the window))^β}, as in AlexNet and
     * GoogLeNet; the mean runs over {@code size} neighbouring channels, missing ones counted as zeros. It is computed in
     * single precision for {@link DType#BF16}, in which {@code k} would swallow most of a small mean.
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
}
