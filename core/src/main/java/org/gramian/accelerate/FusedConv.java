package org.gramian.accelerate;

import org.gramian.accelerate.FusedConvolution.Epilogue;
import org.gramian.accelerate.FusedConvolution.Filters;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Var;
import org.gramian.backbone.network.Conv;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Window;
import org.jspecify.annotations.Nullable;

/**
 * Convolution as one node, with max pooling if it follows.
 *
 * @param plain layers that are replaced: the convolution, or a chain of it and the pooling
 * @param conv convolution
 * @param pool window of the pooling, or null
 */
record FusedConv(NetworkLayer plain, Conv conv, @Nullable Window pool) implements NetworkLayer.Fused {
    /**
     * Residual block whose body ends in a convolution without activation: the sum belongs to the node of the convolution.
     *
     * @param plain block that is replaced
     * @param body layers of the body before the convolution
     * @param last convolution
     * @param shortcut layers of the shortcut
     */
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

    @Override
    public Var apply(Var maps, Bindings parameters) {
        return isSupported(conv, parameters)
                ? convolve(
                        conv, maps, parameters, new Epilogue(null, conv.finish().activation(), pool))
                : plain.apply(maps, parameters);
    }

    /** Returns whether the statistics of the batch norm, if there is one, are fixed. */
    private static boolean isSupported(Conv conv, Bindings parameters) {
        return conv.finish().norm().isEmpty() || !parameters.batchStatistics();
    }

    private static Var convolve(Conv conv, Var maps, Bindings parameters, Epilogue epilogue) {
        Shape shape = maps.shape();
        Var weight = conv.kernel().fitted(parameters.get(conv.name() + ".weight"), shape.at(2), shape.at(3));
        return FusedConvolution.apply(
                maps, filters(conv, weight, parameters), conv.kernel().convolution(shape.at(1)), epilogue);
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
}
