package org.gramian.backbone;

import java.util.List;
import org.gramian.autodiff.BatchNorm;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.FeatureMaps.Filters;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.backbone.ConvolutionKernel.Border;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;

/**
 * Convolution with bias or batch normalization with fixed statistics, and an activation.
 *
 * <p>Parameters: {@code name.weight [k, c, s, s]} (depthwise {@code [c, 1, s, s]}), and {@code name.bias [k]} or those
 * of the batch norm: {@code weight}, {@code bias}, {@code running_mean}, {@code running_var}, each {@code [k]}. The
 * statistics stay fixed while scale and offset are trained, as is usual for small datasets.
 *
 * @param name name of the layer and prefix of its parameters
 * @param channels number of filters k
 * @param kernel size, stride and padding
 * @param finish bias or batch norm, and activation
 */
public record Conv(String name, int channels, ConvolutionKernel kernel, Finish finish) implements NetworkLayer {
    /**
     * Bias or batch norm, and activation.
     *
     * @param norm name of the batch norm, or empty for a bias
     * @param activation activation
     */
    public record Finish(String norm, Activation activation) {}

    /** Returns a convolution with bias, ReLU and padding of half the kernel size. */
    static Conv of(String name, int channels, int size) {
        return new Conv(
                name, channels, new ConvolutionKernel(size, 1, Border.HALF, false), new Finish("", Activation.RELU));
    }

    Conv stride(int stride) {
        return with(new ConvolutionKernel(kernel.size(), stride, kernel.border(), kernel.depthwise()));
    }

    Conv border(Border border) {
        return with(new ConvolutionKernel(kernel.size(), kernel.stride(), border, kernel.depthwise()));
    }

    /** Returns this convolution with one filter per input channel. */
    Conv depthwise() {
        return with(new ConvolutionKernel(kernel.size(), kernel.stride(), kernel.border(), true));
    }

    private Conv with(ConvolutionKernel changed) {
        return new Conv(name, channels, changed, finish);
    }

    /** Returns this convolution with a batch norm instead of a bias. */
    Conv normalized(String norm) {
        return new Conv(name, channels, kernel, new Finish(norm, finish.activation));
    }

    Conv activation(Activation activation) {
        return new Conv(name, channels, kernel, new Finish(finish.norm, activation));
    }

    @Override
    public long channels(long entering) {
        if (kernel.depthwise() && entering != channels) {
            throw new IllegalArgumentException(
                    name + ": expected " + channels + " channels for a depthwise convolution, found " + entering);
        }
        return channels;
    }

    @Override
    public List<ParameterSpec> parameters(long entering) {
        Shape one = Shape.of(channels(entering));
        ParameterSpec weight = new ParameterSpec(
                name + ".weight",
                Shape.of(channels, kernel.depthwise() ? 1 : entering, kernel.size(), kernel.size()),
                Role.WEIGHT,
                Initializer.he());
        if (finish.norm.isEmpty()) {
            return List.of(weight, new ParameterSpec(name + ".bias", one, Role.BIAS, Initializer.constant(0)));
        }
        return List.of(
                weight,
                new ParameterSpec(finish.norm + ".weight", one, Role.BIAS, Initializer.constant(1)),
                new ParameterSpec(finish.norm + ".bias", one, Role.BIAS, Initializer.constant(0)),
                new ParameterSpec(finish.norm + ".running_mean", one, Role.FITTED, Initializer.constant(0)),
                new ParameterSpec(finish.norm + ".running_var", one, Role.FITTED, Initializer.constant(1)));
    }

    @Override
    public Shape output(Shape maps) {
        return Shape.of(channels(maps.at(0)), kernel.windows(maps.at(1)), kernel.windows(maps.at(2)));
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Shape entering = maps.shape();
        Filters filters = filters(parameters);
        Var weight = kernel.fitted(filters.weight(), entering.at(2), entering.at(3));
        return FeatureMaps.convolve(
                maps, new Filters(weight, filters.bias()), kernel.convolution(entering.at(1)), finish.activation);
    }

    private Filters filters(Bindings parameters) {
        Var weight = parameters.get(name + ".weight");
        if (finish.norm.isEmpty()) {
            return new Filters(weight, parameters.get(name + ".bias"));
        }
        Bindings norm = parameters.under(finish.norm);
        BatchNorm.Statistics statistics = new BatchNorm.Statistics(
                norm.get("running_mean").value(), norm.get("running_var").value());
        return BatchNorm.STANDARD.fold(weight, norm.get("weight"), norm.get("bias"), statistics);
    }
}
