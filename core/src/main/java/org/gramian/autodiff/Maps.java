package org.gramian.autodiff;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Window;
import org.jspecify.annotations.Nullable;

/** Differentiable functions of feature maps {@code [n, c, h, w]}: convolution, pooling, response normalization. */
public final class Maps {
    private Maps() {}

    /** Convolution with weights {@code [k, c/groups, s, t]} and biases {@code [k]}. */
    public static Var convolve(Var input, Var weight, Var bias, Convolution convolution) {
        return input.tape()
                .apply(
                        List.of(input, weight, bias),
                        () -> Result.of(
                                convolution.apply(input.value(), weight.value(), bias.value()),
                                (g, wanted) ->
                                        gradients(convolution.backward(g, input.value(), weight.value(), wanted))));
    }

    /** Convolution and ReLU in one node: only the rectified maps are kept, half of what two nodes hold. */
    public static Var convolveRelu(Var input, Var weight, Var bias, Convolution convolution) {
        return input.tape().apply(List.of(input, weight, bias), () -> {
            Tensor y = Elementwise.reluInPlace(convolution.apply(input.value(), weight.value(), bias.value()));
            return Result.of(
                    y,
                    (g, wanted) -> gradients(convolution.backward(
                            Elementwise.reluBackward(g, y), input.value(), weight.value(), wanted)));
        });
    }

    private static List<@Nullable Tensor> gradients(Convolution.Gradients gradients) {
        return list(gradients.input(), gradients.weight(), gradients.bias());
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

    /**
     * Local response normalization across channels, {@code x / (k + α·mean(x² over the window))^β}, as in AlexNet and
     * GoogLeNet; the mean runs over {@code size} neighbouring channels, missing ones counted as zeros.
     */
    public static Var localResponseNorm(Var input, ResponseNorm norm) {
        Tensor x = input.value();
        Var squares = Shapes.reshape(Arithmetic.mul(input, input), x.size(0), 1, x.size(1), x.size(2) * x.size(3));
        Var means = averagePool(squares, norm.window());
        Var denominators =
                Arithmetic.pow(Arithmetic.shift(Arithmetic.scale(means, norm.alpha()), norm.k()), norm.beta());
        return Arithmetic.div(input, Shapes.reshape(denominators, x.shape().sizes()));
    }
}
