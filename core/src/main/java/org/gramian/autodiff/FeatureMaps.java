package org.gramian.autodiff;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.FixedNorm;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
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

    /** Computes convolution and activation in one node, see {@link #convolve(Var, Filters, Convolution, Epilogue)}. */
    public static Var convolve(Var input, Filters filters, Convolution convolution, Activation activation) {
        return convolve(input, filters, convolution, Epilogue.of(activation));
    }

    /**
     * Computes convolution, batch norm with fixed statistics, residual, activation and max pooling in one node, {@code
     * pool(activation(norm(W∗x + b) + residual))}. Besides its input, filters and result the node keeps the positions of maxima,
     * the maps before max pooling if the backward pass of the pooling {@linkplain Window.Maxima#needMaps needs} them, and those
     * before an activation whose derivative {@linkplain Activation#needsInput needs} them.
     *
     * <p>Maps in {@link DType#BF16} are convolved in that type (mixed precision): float32 filters are rounded for it
     * and get float32 gradients.
     *
     * @param input x {@code [n, c, h, w]}
     * @return {@code [n, k, h', w']}
     */
    public static Var convolve(Var input, Filters filters, Convolution convolution, Epilogue epilogue) {
        Activation activation = epilogue.activation();
        if (activation.needsInput() && (epilogue.residual() != null || epilogue.pool() != null)) {
            return epilogue.separately(convolve(input, filters, convolution, Activation.NONE));
        }
        List<Var> inputs = new ArrayList<>(List.of(input));
        inputs.addAll(filters.variables());
        Var residual = epilogue.residual();
        Window pool = epilogue.pool();
        if (residual != null) {
            inputs.add(residual);
        }
        boolean split = activation.needsInput() && inputs.stream().anyMatch(Var::wantsGradient);
        return input.tape().apply(inputs, () -> {
            Tensor x = input.value().forTensorCores();
            Convolution.Prepared prepared = filters.prepared(x, convolution, epilogue);
            requireFit(convolution.output(x.shape(), prepared.weight().shape()), x, epilogue);
            Tensor saved = convolution.apply(
                    x,
                    prepared.weight(),
                    prepared.bias(),
                    residual == null ? null : residual.value(),
                    split ? Activation.NONE : activation);
            Window.Maxima maxima = pool == null ? null : pool.max(saved);
            Result.Adjoint backward = (g, wanted) -> {
                boolean[] all = filters.wanted(wanted);
                Convolution.Inputs of = new Convolution.Inputs(x, prepared.weight());
                if (!wanted[0] && maxima == null && residual == null) {
                    Optional<Convolution.Gradients> found =
                            convolution.backwardOfFilters(g, null, saved, of, activation);
                    if (found.isPresent()) {
                        return filters.listed(found.get());
                    }
                }
                Convolution.Upstream upstream = maxima == null || pool == null
                        ? Convolution.Upstream.of(g, null, saved, activation, all[2])
                        : Convolution.Upstream.ofPooled(g, null, maxima, pool, saved, activation, all[2]);
                List<@Nullable Tensor> gradients = filters.gradients(convolution, upstream, of, all);
                if (residual != null) {
                    gradients.add(upstream.gradient());
                }
                return gradients;
            };
            List<Tensor> kept = new ArrayList<>(List.of(prepared.weight(), x));
            if (maxima == null || maxima.needMaps()) {
                kept.add(saved);
            }
            if (maxima != null) {
                kept.add(maxima.places());
            }
            Tensor value = maxima != null ? maxima.values() : split ? activation.apply(saved) : saved;
            return new Result(value, kept, backward);
        });
    }

    private static void requireFit(Shape shape, Tensor maps, Epilogue epilogue) {
        Var residual = epilogue.residual;
        if (residual != null && !epilogue.residualFits(shape, maps)) {
            throw new IllegalArgumentException("convolution: expected a residual of the result's shape " + shape
                    + " and of the type and device of " + maps + ", found " + residual.value());
        }
    }

    /** Computes the activation of the sum of two feature maps in one node. */
    public static Var add(Var a, Var b, Activation activation) {
        if (!a.shape().equals(b.shape())) {
            throw new IllegalArgumentException(
                    "sum: expected feature maps of the same shape, found " + a + " and " + b);
        }
        if (activation.needsInput()) {
            return add(a, b, Activation.NONE).activate(activation);
        }
        return a.tape().apply(List.of(a, b), () -> {
            Tensor y = activation.inPlace(a.value().add(b.value()));
            return Result.of(y, (g, wanted) -> {
                // otherwise the gradient would be converted in every block below
                Tensor both = activation.backward(g.forTensorCores(), y);
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
     * Filters of a convolution.
     *
     * @param weight {@code [filters, channels / groups, height, width]}
     * @param bias {@code [filters]}, or null
     * @param norm batch norm with fixed statistics after a convolution without bias, or null
     */
    public record Filters(
            Var weight, @Nullable Var bias, @Nullable Norm norm) {
        public Filters {
            if (bias != null && norm != null) {
                throw new IllegalArgumentException("expected filters with a bias or a norm, found both");
            }
        }

        public Filters(Var weight, @Nullable Var bias) {
            this(weight, bias, null);
        }

        /** Returns the variables of the filters: weights, and scale and offset or bias if there are such. */
        private List<Var> variables() {
            return norm != null
                    ? List.of(weight, norm.gamma, norm.beta)
                    : bias == null ? List.of(weight) : List.of(weight, bias);
        }

        /** Returns the weights and the bias of the convolution of maps, the norm folded into them. */
        private Convolution.Prepared prepared(Tensor maps, Convolution convolution, Epilogue epilogue) {
            if (norm == null) {
                return new Convolution.Prepared(
                        convolution.prepared(weight.value(), maps), bias == null ? null : bias.value());
            }
            DType type = Convolution.biasType(maps, epilogue.activation);
            return norm.fixed().fold(weight.value(), maps, convolution, type);
        }

        /** Returns which gradients of maps, weights and bias the inputs of the node need. */
        private boolean[] wanted(boolean[] inputs) {
            boolean ofNorm = norm != null && (inputs[2] || inputs[3]);
            boolean ofBias = norm == null ? bias != null && inputs[2] : ofNorm || inputs[1];
            return new boolean[] {inputs[0], inputs[1] || (norm != null && inputs[2]), ofBias};
        }

        /** Computes the gradients of maps and filters, those of the filters beside that of the maps if both are wanted. */
        private List<@Nullable Tensor> gradients(
                Convolution convolution, Convolution.Upstream g, Convolution.Inputs of, boolean[] wanted) {
            List<@Nullable Tensor> all = new ArrayList<>();
            if (wanted[0] && wanted[1]) {
                List<Tensor> reads = new ArrayList<>(List.of(of.maps(), of.weight()));
                reads.addAll(g.tensors());
                boolean[] ofFilters = {false, true, wanted[2]};
                List<@Nullable Tensor> parameters = weight.tape()
                        .parameterGradients(
                                variables(), reads, () -> ofFilters(convolution.backward(g, of, ofFilters)));
                boolean[] ofMaps = {true, false, false};
                all.add(convolution.backward(g, of, ofMaps).input());
                all.addAll(parameters);
            } else {
                all.addAll(listed(onOneStream(convolution, g, of, wanted)));
            }
            return all;
        }

        private static Convolution.Gradients onOneStream(
                Convolution convolution, Convolution.Upstream g, Convolution.Inputs of, boolean[] wanted) {
            if (!wanted[0] && !wanted[1] && !wanted[2]) {
                return new Convolution.Gradients(null, null, null);
            }
            Optional<Convolution.Gradients> ofFilters = wanted[0]
                    ? Optional.empty()
                    : convolution.backwardOfFilters(g.gradient(), null, g.gradient(), of, Activation.NONE);
            return ofFilters.orElseGet(() -> convolution.backward(g, of, wanted));
        }

        /** Returns the gradients of maps and filters. */
        private List<@Nullable Tensor> listed(Convolution.Gradients found) {
            List<@Nullable Tensor> all = new ArrayList<>();
            all.add(found.input());
            all.addAll(ofFilters(found));
            return all;
        }

        /** Returns the gradients of weights, and of scale and offset or bias if there are such. */
        private List<@Nullable Tensor> ofFilters(Convolution.Gradients found) {
            Tensor ofWeight = found.weight();
            Tensor ofBias = found.bias();
            Tensor exact = weight.value();
            if (norm != null && ofWeight != null && ofBias != null) {
                FixedNorm.Gradients folded = norm.fixed().backward(ofWeight, ofBias, exact);
                return list(folded.weight(), folded.gamma(), folded.beta());
            }
            Tensor first = ofWeight == null ? null : Convolution.ofWeight(ofWeight, exact);
            Tensor last = ofBias == null ? null : ofBias.to(exact.type());
            if (norm != null) {
                return list(first, null, last); // γ needs that of the weights
            }
            return bias == null ? list(first) : list(first, last);
        }
    }

    /**
     * Batch norm with fixed statistics, whose scale and offset may be trained; see {@link FixedNorm}.
     *
     * @param gamma scale γ {@code [filters]}
     * @param beta offset β {@code [filters]}
     * @param mean mean μ {@code [filters]}
     * @param variance variance v {@code [filters]}
     * @param epsilon ε, added to the variance
     */
    public record Norm(Var gamma, Var beta, Tensor mean, Tensor variance, double epsilon) {
        private FixedNorm fixed() {
            return new FixedNorm(gamma.value(), beta.value(), mean, variance, epsilon);
        }
    }

    /**
     * What follows a convolution in its node, in this order.
     *
     * @param residual maps of the result's shape that are added, or null
     * @param activation activation
     * @param pool window of max pooling, or null
     */
    public record Epilogue(
            @Nullable Var residual,
            Activation activation,
            @Nullable Window pool) {
        /** Returns an activation alone. */
        public static Epilogue of(Activation activation) {
            return new Epilogue(null, activation, null);
        }

        /** Returns whether the residual, if there is one, has a shape, and the type and device of maps. */
        public boolean residualFits(Shape shape, Tensor maps) {
            return residual == null
                    || (residual.shape().equals(shape)
                            && residual.value().type() == maps.type()
                            && residual.value().device().equals(maps.device()));
        }

        /** Applies it as nodes of their own. */
        public Var separately(Var maps) {
            Var y = residual == null ? maps.activate(activation) : add(maps, residual, activation);
            return pool == null ? y : maxPool(y, pool);
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
