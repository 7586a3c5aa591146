package org.gramian.backbone;

import java.util.List;
import org.gramian.autodiff.BatchNorm;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.Filters;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.backbone.ConvolutionKernel.Border;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;

/**
 * A convolution, with bias or with batch normalization by fixed statistics, and its activation.
 *
 * <p>Parameters {@code name.weight [k, c, s, s]} (depthwise {@code [c, 1, s, s]}), and {@code name.bias [k]}, or those
 * of the norm: {@code weight}, {@code bias}, {@code running_mean}, {@code running_var}, each {@code [k]}. The statistics
 * stay what they are while scale and offset are trained, as one does with small data.
 *
 * @param name of the stage and of its parameters
 * @param channels number of filters
 * @param kernel the window
 * @param finish what follows the sums
 */
public record Conv(String name, int channels, ConvolutionKernel kernel, Finish finish) implements NetworkLayer {
    /**
     * What follows the sums.
     *
     * @param norm the name of a batch norm, or nothing for a bias
     * @param activation the end
     */
    public record Finish(String norm, Activation activation) {}

    /** A convolution with bias and ReLU whose windows reach half of their size beyond the maps. */
    static Conv of(String name, int channels, int size) {
        return new Conv(name, channels, new ConvolutionKernel(size, 1, Border.HALF, false), new Finish("", Activation.RELU));
    }

    Conv stride(int stride) {
        return with(new ConvolutionKernel(kernel.size(), stride, kernel.border(), kernel.depthwise()));
    }

    Conv border(Border border) {
        return with(new ConvolutionKernel(kernel.size(), kernel.stride(), border, kernel.depthwise()));
    }

    /** The same with one filter for each map that enters. */
    Conv depthwise() {
        return with(new ConvolutionKernel(kernel.size(), kernel.stride(), kernel.border(), true));
    }

    private Conv with(ConvolutionKernel changed) {
        return new Conv(name, channels, changed, finish);
    }

    /** The same with a batch norm of that name instead of a bias. */
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
                Initializers.he());
        if (finish.norm.isEmpty()) {
            return List.of(weight, new ParameterSpec(name + ".bias", one, Role.BIAS, Initializers.constant(0)));
        }
        return List.of(
                weight,
                new ParameterSpec(finish.norm + ".weight", one, Role.BIAS, Initializers.constant(1)),
                new ParameterSpec(finish.norm + ".bias", one, Role.BIAS, Initializers.constant(0)),
                new ParameterSpec(finish.norm + ".running_mean", one, Role.FITTED, Initializers.constant(0)),
                new ParameterSpec(finish.norm + ".running_var", one, Role.FITTED, Initializers.constant(1)));
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
