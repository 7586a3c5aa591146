package org.gramian.accelerate;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.accelerate.ConvolutionKernels.Prepared;
import org.gramian.accelerate.ConvolutionKernels.Upstream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.backbone.network.Conv;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.NetworkLayer.Chain;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Convolution, batch norm with fixed statistics, residual, activation and max pooling in one node, {@code
 * pool(activation(norm(W∗x + b) + residual))}. Besides its input, filters and result the node keeps the positions of maxima, the
 * maps before max pooling unless the positions are bytes of a kernel, and those before an activation whose derivative {@linkplain
 * Activation#needsInput needs} them.
 *
 * <p>Maps in {@link DType#BF16} are convolved in that type: float32 filters are rounded for it and get float32 gradients.
 */
final class FusedConvolution {
    private FusedConvolution() {}

    /**
     * Convolution as one node, with max pooling if it follows.
     *
     * @param pool window of the pooling, or null
     */
    record Single(NetworkLayer plain, Conv conv, @Nullable Window pool) implements NetworkLayer.Fused {
        @Override
        public Var apply(Var maps, Bindings parameters) {
            return isSupported(conv, parameters)
                    ? convolve(
                            conv,
                            maps,
                            parameters,
                            new Epilogue(null, conv.finish().activation(), pool))
                    : plain.apply(maps, parameters);
        }
    }

    /** Residual block whose body ends in a convolution without activation: the sum belongs to the node of the convolution. */
    record Sum(NetworkLayer.Residual plain, Chain body, Conv last, Chain shortcut) implements NetworkLayer.Fused {
        @Override
        public Var apply(Var maps, Bindings parameters) {
            Var residual = shortcut.apply(maps, parameters);
            Var inner = body.apply(maps, parameters);
            return isSupported(last, parameters)
                    ? convolve(last, inner, parameters, new Epilogue(residual, plain.activation(), null))
                    : last.apply(inner, parameters).add(residual).activate(plain.activation());
        }
    }

    /** Returns whether the statistics of the batch norm, if there is one, are fixed. */
    private static boolean isSupported(Conv conv, Bindings parameters) {
        return conv.finish().norm().isEmpty() || !parameters.batchStatistics();
    }

    private static Var convolve(Conv conv, Var maps, Bindings parameters, Epilogue epilogue) {
        Shape shape = maps.shape();
        Var weight = conv.kernel().fitted(parameters.get(conv.name() + ".weight"), shape.at(2), shape.at(3));
        return apply(maps, filters(conv, weight, parameters), conv.kernel().convolution(shape.at(1)), epilogue);
    }

    private static Filters filters(Conv conv, Var weight, Bindings parameters) {
        if (conv.hasBias(parameters)) {
            return new Filters(weight, parameters.get(conv.name() + ".bias"), null);
        }
        Bindings norm = parameters.under(conv.finish().norm());
        FixedNorm fixed = new FixedNorm(
                norm.get("weight"),
                norm.get("bias"),
                norm.get("running_mean").value(),
                norm.get("running_var").value(),
                conv.finish().epsilon());
        return new Filters(weight, null, fixed);
    }

    /**
     * Filters of a convolution.
     *
     * @param weight {@code [k, c/groups, s, t]}
     * @param bias {@code [k]}, or null
     * @param norm batch norm after a convolution without bias, or null
     */
    record Filters(Var weight, @Nullable Var bias, @Nullable FixedNorm norm) {
        Filters {
            if (bias != null && norm != null) {
                throw new IllegalArgumentException("expected filters with a bias or a norm, found both");
            }
        }

        /** Returns the variables of the filters: weights, and scale and offset or bias if there are such. */
        private List<Var> variables() {
            return norm != null
                    ? List.of(weight, norm.gamma(), norm.beta())
                    : bias == null ? List.of(weight) : List.of(weight, bias);
        }

        /** Returns the weights and the bias of the convolution of maps, the norm folded into them. */
        private Prepared prepared(Tensor maps, ConvolutionKernels convolution, Activation activation) {
            return norm == null
                    ? new Prepared(convolution.prepared(weight.value(), maps), bias == null ? null : bias.value())
                    : norm.fold(weight.value(), maps, convolution, ConvolutionKernels.biasType(maps, activation));
        }

        /** Returns which gradients of maps, weights and bias the inputs of the node need. */
        private boolean[] wanted(boolean[] inputs) {
            boolean ofNorm = norm != null && (inputs[2] || inputs[3]);
            boolean ofBias = norm == null ? bias != null && inputs[2] : ofNorm || inputs[1];
            return new boolean[] {inputs[0], inputs[1] || (norm != null && inputs[2]), ofBias};
        }

        /** Computes the gradients of maps and filters. */
        private List<@Nullable Tensor> gradients(
                ConvolutionKernels convolution, Upstream g, Tensor maps, Tensor prepared, boolean[] wanted) {
            List<@Nullable Tensor> all = new ArrayList<>();
            if (wanted[0] && wanted[1]) {
                List<Tensor> reads = new ArrayList<>(List.of(maps, prepared));
                reads.addAll(g.tensors());
                boolean[] ofFilters = {false, true, wanted[2]};
                List<@Nullable Tensor> parameters = weight.tape()
                        .parameterGradients(
                                variables(),
                                reads,
                                () -> ofFilters(convolution.backward(g, maps, prepared, ofFilters)));
                boolean[] ofMaps = {true, false, false};
                all.add(convolution.backward(g, maps, prepared, ofMaps).input());
                all.addAll(parameters);
            } else {
                Convolution.Gradients found = onOneStream(convolution, g, maps, prepared, wanted);
                all.add(found.input());
                all.addAll(ofFilters(found));
            }
            return all;
        }

        private static Convolution.Gradients onOneStream(
                ConvolutionKernels convolution, Upstream g, Tensor maps, Tensor prepared, boolean[] wanted) {
            if (!wanted[0] && !wanted[1] && !wanted[2]) {
                return new Convolution.Gradients(null, null, null);
            }
            Optional<Convolution.Gradients> ofFilters = wanted[0]
                    ? Optional.empty()
                    : convolution.backwardOfFilters(g.gradient(), g.gradient(), maps, prepared, Activation.NONE);
            return ofFilters.orElseGet(() -> convolution.backward(g, maps, prepared, wanted));
        }

        /** Returns the gradients of weights, and of scale and offset or bias if there are such. */
        private List<@Nullable Tensor> ofFilters(Convolution.Gradients found) {
            Tensor ofWeight = found.weight();
            Tensor ofBias = found.bias();
            Tensor exact = weight.value();
            if (norm != null && ofWeight != null && ofBias != null) {
                FixedNorm.Gradients folded = norm.backward(ofWeight, ofBias, exact);
                return list(folded.weight(), folded.gamma(), folded.beta());
            }
            Tensor first = ofWeight == null ? null : ConvolutionKernels.ofWeight(ofWeight, exact);
            Tensor last = ofBias == null ? null : ofBias.to(exact.type());
            if (norm != null) {
                return list(first, null, last); // γ needs that of the weights
            }
            return bias == null ? list(first) : list(first, last);
        }
    }

    /**
     * What follows a convolution in its node, in this order.
     *
     * @param residual maps of the result's shape that are added, or null
     * @param activation activation; with a residual or a window its derivative follows from its value
     * @param pool window of max pooling, or null
     */
    record Epilogue(
            @Nullable Var residual,
            Activation activation,
            @Nullable Window pool) {
        Epilogue {
            if (activation.needsInput() && (residual != null || pool != null)) {
                throw new IllegalArgumentException(
                        "expected an activation whose derivative follows from its value, found " + activation
                                + " with a residual or max pooling");
            }
        }

        private void requireFit(Shape shape, Tensor maps) {
            if (residual != null
                    && (!residual.shape().equals(shape)
                            || residual.value().type() != maps.type()
                            || !residual.value().device().equals(maps.device()))) {
                throw new IllegalArgumentException("convolution: expected a residual of the result's shape " + shape
                        + " and of the type and device of " + maps + ", found " + residual.value());
            }
        }
    }

    /** Applies the node: x {@code [n, c, h, w]}; returns {@code [n, k, h', w']}. */
    static Var apply(Var input, Filters filters, Convolution geometry, Epilogue epilogue) {
        ConvolutionKernels convolution = new ConvolutionKernels(geometry);
        Activation activation = epilogue.activation;
        Var residual = epilogue.residual;
        Window pool = epilogue.pool;
        List<Var> inputs = new ArrayList<>(List.of(input));
        inputs.addAll(filters.variables());
        if (residual != null) {
            inputs.add(residual);
        }
        boolean split = activation.needsInput() && inputs.stream().anyMatch(Var::wantsGradient);
        return input.tape().apply(inputs, () -> {
            Tensor x = ConvolutionKernels.forTensorCores(input.value());
            Prepared prepared = filters.prepared(x, convolution, activation);
            Tensor weight = prepared.weight();
            epilogue.requireFit(geometry.output(x.shape(), weight.shape()), x);
            Tensor saved = convolution.apply(
                    x,
                    weight,
                    prepared.bias(),
                    residual == null ? null : residual.value(),
                    split ? Activation.NONE : activation);
            Window.Maxima maxima = pool == null ? null : max(saved, pool);
            Result.Adjoint backward = (g, wanted) -> {
                boolean[] all = filters.wanted(wanted);
                if (!wanted[0] && maxima == null && residual == null) {
                    Optional<Convolution.Gradients> found =
                            convolution.backwardOfFilters(g, saved, x, weight, activation);
                    if (found.isPresent()) {
                        List<@Nullable Tensor> gradients = new ArrayList<>();
                        gradients.add(null);
                        gradients.addAll(filters.ofFilters(found.get()));
                        return gradients;
                    }
                }
                Upstream upstream = maxima == null || pool == null
                        ? Upstream.of(g, saved, activation, all[2])
                        : ofPooled(Upstream.of(g, maxima.values(), activation, all[2]), maxima, pool, saved);
                List<@Nullable Tensor> gradients = filters.gradients(convolution, upstream, x, weight, all);
                if (residual != null) {
                    gradients.add(upstream.gradient());
                }
                return gradients;
            };
            List<Tensor> kept = new ArrayList<>(List.of(weight, x));
            if (maxima == null || !isOfKernel(maxima)) {
                kept.add(saved);
            }
            if (maxima != null) {
                kept.add(maxima.places());
            }
            Tensor value = maxima != null ? maxima.values() : split ? activation.apply(saved) : saved;
            return new Result(value, kept, backward);
        });
    }

    private static Window.Maxima max(Tensor maps, Window pool) {
        return FeatureMapKernels.isMaxPoolSupported(maps, pool) ? FeatureMapKernels.max(maps, pool) : pool.max(maps);
    }

    /** Returns whether positions are bytes of a kernel, whose gradient needs no more than the shape of the maps. */
    private static boolean isOfKernel(Window.Maxima maxima) {
        return maxima.places().type() == DType.U8;
    }

    /**
     * Computes the gradient from that of max pooling. A maximum is the activated value at its position, so the derivative of the
     * activation is applied to the pooled gradient, which is smaller.
     *
     * @param pooled gradient of the maxima before the activation
     * @param maps activated result before the pooling
     */
    private static Upstream ofPooled(Upstream pooled, Window.Maxima maxima, Window pool, Tensor maps) {
        Tensor gradient = isOfKernel(maxima)
                ? FeatureMapKernels.maxBackward(pooled.gradient(), maps.shape(), maxima.places(), pool)
                : pool.maxBackward(pooled.gradient(), maps, maxima.places());
        return new Upstream(gradient, pooled.partial());
    }
}
