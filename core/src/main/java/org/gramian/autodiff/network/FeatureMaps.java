package org.gramian.autodiff.network;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.Convolution.Window.Pair;
import org.gramian.tensor.DType;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** Differentiable functions of feature maps {@code [n, c, h, w]}: convolution, pooling, response normalization. */
public final class FeatureMaps {
    private FeatureMaps() {}

    /**
     * Convolves feature maps, see {@link Convolution}. Weights and bias are cast for maps in {@link DType#BF16}.
     *
     * @param input {@code [n, c, h, w]}
     * @param weight {@code [k, c/groups, s, t]}
     * @param bias {@code [k]}, or null
     * @return {@code [n, k, h', w']}
     */
    public static Var convolve(Var input, Var weight, @Nullable Var bias, Convolution convolution) {
        boolean mixed = input.value().type() == DType.BF16;
        List<Var> parameters = (bias == null ? List.of(weight) : List.of(weight, bias))
                .stream().map(each -> mixed ? each.to(DType.BF16) : each).toList();
        List<Var> inputs = new ArrayList<>(List.of(input));
        inputs.addAll(parameters);
        return input.tape().apply(inputs, () -> {
            Tensor x = input.value();
            Tensor w = parameters.getFirst().value();
            Tensor y = convolution.apply(
                    x, w, bias == null ? null : parameters.getLast().value());
            return Result.of(y, (g, wanted) -> {
                List<@Nullable Tensor> gradients = new ArrayList<>(input.tape()
                        .parameterGradients(parameters, List.of(g, x), () -> ofFilters(convolution, g, x, w, wanted)));
                boolean[] ofMaps = {true, false, false};
                gradients.addFirst(
                        wanted[0] ? convolution.backward(g, x, w, ofMaps).input() : null);
                return gradients;
            });
        });
    }

    /** Computes the gradients of weights and, if the node has one, bias. */
    private static List<@Nullable Tensor> ofFilters(
            Convolution convolution, Tensor g, Tensor x, Tensor weight, boolean[] wanted) {
        boolean biased = wanted.length > 2;
        boolean[] ofFilters = {false, wanted[1], biased && wanted[2]};
        if (!ofFilters[1] && !ofFilters[2]) {
            return biased ? list(null, null) : list((Tensor) null);
        }
        Convolution.Gradients found = convolution.backward(g, x, weight, ofFilters);
        Tensor ofWeight = found.weight() == null ? null : found.weight().contiguous();
        return biased ? list(ofWeight, found.bias()) : list(ofWeight);
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
        return input.map(window::average, (g, y) -> window.averageBackward(g, input.value()));
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
            return localResponseNorm(input.to(DType.F32), norm).to(DType.BF16);
        }
        Tensor x = input.value();
        Var squares = input.mul(input).reshape(x.size(0), 1, x.size(1), x.size(2) * x.size(3));
        Var means = averagePool(squares, norm.window());
        Var denominators = means.mul(norm.alpha()).add(norm.k()).pow(norm.beta());
        return input.div(denominators.reshape(x.shape().sizes()));
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
