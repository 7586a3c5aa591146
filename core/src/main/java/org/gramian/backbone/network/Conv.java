package org.gramian.backbone.network;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.BatchNorm;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.backbone.network.ConvolutionKernel.Border;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Shape;

/**
 * Convolution with bias or batch normalization, and an activation.
 *
 * <p>Parameters: {@code name.weight [k, c, s, s]} (depthwise {@code [c, 1, s, s]}), and {@code name.bias [k]} or those
 * of the batch norm: {@code weight}, {@code bias}, {@code running_mean}, {@code running_var}, each {@code [k]}. The
 * statistics stay fixed while scale and offset are trained, as is usual for small datasets, unless the bindings {@linkplain
 * Bindings#batchStatistics ask} for those of the batch.
 */
public record Conv(String name, int channels, ConvolutionKernel kernel, Finish finish) implements NetworkLayer {
    /**
     * Bias or batch norm, and activation.
     *
     * @param norm name of the batch norm, or empty for a bias
     */
    public record Finish(String norm, double epsilon, Activation activation) {}

    /** Returns a convolution with bias, ReLU and padding of half the kernel size. */
    public static Conv of(String name, int channels, int size) {
        Finish finish = new Finish("", BatchNorm.STANDARD.epsilon(), Activation.RELU);
        return new Conv(name, channels, new ConvolutionKernel(size, 1, Border.HALF, false), finish);
    }

    public Conv stride(int stride) {
        return with(new ConvolutionKernel(kernel.size(), stride, kernel.border(), kernel.depthwise()));
    }

    public Conv border(Border border) {
        return with(new ConvolutionKernel(kernel.size(), kernel.stride(), border, kernel.depthwise()));
    }

    /** Returns this convolution with one filter per input channel. */
    public Conv depthwise() {
        return with(new ConvolutionKernel(kernel.size(), kernel.stride(), kernel.border(), true));
    }

    private Conv with(ConvolutionKernel changed) {
        return new Conv(name, channels, changed, finish);
    }

    /** Returns this convolution with a batch norm of PyTorch's default ε instead of a bias. */
    Conv normalized(String norm) {
        return normalized(norm, finish.epsilon);
    }

    Conv normalized(String norm, double epsilon) {
        return new Conv(name, channels, kernel, new Finish(norm, epsilon, finish.activation));
    }

    public Conv activation(Activation activation) {
        return new Conv(name, channels, kernel, new Finish(finish.norm, finish.epsilon, activation));
    }

    @Override
    public long channels(long entering) {
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
        Shape shape = maps.shape();
        Convolution convolution = kernel.convolution(shape.at(1));
        Var weight = kernel.fitted(parameters.get(name + ".weight"), shape.at(2), shape.at(3));
        if (hasBias(parameters)) {
            return activate(FeatureMaps.convolve(maps, weight, parameters.get(name + ".bias"), convolution));
        }
        Bindings norm = parameters.under(finish.norm);
        Var sums = FeatureMaps.convolve(maps, weight, null, convolution);
        return activate(
                parameters.batchStatistics()
                        ? norm().train(sums, norm.get("weight"), norm.get("bias"), statistics(norm))
                        : norm().predict(sums, norm.get("weight"), norm.get("bias"), statistics(norm)));
    }

    private Var activate(Var maps) {
        return maps.activate(finish.activation);
    }

    /** Returns whether the bindings have a bias in place of a batch norm: there is none, or it is {@linkplain #folded folded}. */
    public boolean hasBias(Bindings parameters) {
        boolean folded =
                !parameters.batchStatistics() && parameters.find(name + ".bias").isPresent();
        return finish.norm.isEmpty() || folded;
    }

    @Override
    public Stream<Conv> convolutions() {
        return Stream.of(this);
    }

    /**
     * Folds the batch norm into the filters.
     *
     * @return {@code name.weight} and {@code name.bias}, which {@link #apply} uses in place of the norm where both are
     *     bound; empty without a batch norm
     */
    public Map<String, Var> folded(Bindings parameters) {
        if (finish.norm.isEmpty()) {
            return Map.of();
        }
        Bindings norm = parameters.under(finish.norm);
        BatchNorm.Folded folded =
                norm().fold(parameters.get(name + ".weight"), norm.get("weight"), norm.get("bias"), statistics(norm));
        return Map.of(name + ".weight", folded.weight(), name + ".bias", folded.bias());
    }

    private BatchNorm norm() {
        return new BatchNorm(finish.epsilon, BatchNorm.STANDARD.momentum());
    }

    private static BatchNorm.Statistics statistics(Bindings norm) {
        return new BatchNorm.Statistics(
                norm.get("running_mean").value(), norm.get("running_var").value());
    }
}
