package org.gramian.backbone.network;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.FeatureMaps.Epilogue;
import org.gramian.autodiff.FeatureMaps.Filters;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.BatchNorm;
import org.gramian.backbone.network.ConvolutionKernel.Border;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Window;

/**
 * Convolution with bias or batch normalization, and an activation.
 *
 * <p>Parameters: {@code name.weight [k, c, s, s]} (depthwise {@code [c, 1, s, s]}), and {@code name.bias [k]} or those
 * of the batch norm: {@code weight}, {@code bias}, {@code running_mean}, {@code running_var}, each {@code [k]}. The
 * statistics stay fixed while scale and offset are trained, as is usual for small datasets, unless the bindings {@linkplain
 * Bindings#batchStatistics ask} for those of the batch.
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
     * @param epsilon ε of the batch norm, added to the variance
     * @param activation activation
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
        return apply(maps, parameters, Epilogue.of(finish.activation));
    }

    /** Applies the layer followed by max pooling, as one node of the tape. */
    public Var apply(Var maps, Bindings parameters, Window pool) {
        return apply(maps, parameters, new Epilogue(null, finish.activation, pool));
    }

    /**
     * Applies the layer with another epilogue.
     *
     * @param epilogue used in place of the activation
     */
    Var apply(Var maps, Bindings parameters, Epilogue epilogue) {
        Shape entering = maps.shape();
        Convolution convolution = kernel.convolution(entering.at(1));
        if (parameters.batchStatistics() && !finish.norm.isEmpty()) {
            Var weight = kernel.fitted(parameters.get(name + ".weight"), entering.at(2), entering.at(3));
            Var sums = FeatureMaps.convolve(maps, new Filters(weight, null), convolution, Activation.NONE);
            Bindings norm = parameters.under(finish.norm);
            return norm().train(sums, norm.get("weight"), norm.get("bias"), statistics(norm), epilogue);
        }
        Filters filters = filters(parameters);
        Var weight = kernel.fitted(filters.weight(), entering.at(2), entering.at(3));
        return FeatureMaps.convolve(maps, new Filters(weight, filters.bias(), filters.norm()), convolution, epilogue);
    }

    /** Applies layers and an epilogue, in one node with the last layer if that is a convolution without activation. */
    static Var applyLast(Chain layers, Var maps, Bindings parameters, Epilogue epilogue) {
        List<NetworkLayer> stages = layers.stages();
        int last = stages.size() - 1;
        if (last >= 0 && stages.get(last) instanceof Conv conv && conv.finish.activation == Activation.NONE) {
            Var inner = new Chain(layers.name(), stages.subList(0, last)).apply(maps, parameters);
            return conv.apply(inner, parameters, epilogue);
        }
        return epilogue.separately(layers.apply(maps, parameters));
    }

    @Override
    public Stream<Conv> convolutions() {
        return Stream.of(this);
    }

    /**
     * Folds the batch norm into the filters.
     *
     * @param parameters variables under their full names
     * @return {@code name.weight} and {@code name.bias}, which {@link #apply} uses in place of the norm where both are
     *     bound; empty without a batch norm
     */
    public Map<String, Var> folded(Bindings parameters) {
        if (finish.norm.isEmpty()) {
            return Map.of();
        }
        Bindings norm = parameters.under(finish.norm);
        Filters filters =
                norm().fold(parameters.get(name + ".weight"), norm.get("weight"), norm.get("bias"), statistics(norm));
        return Map.of(name + ".weight", filters.weight(), name + ".bias", Objects.requireNonNull(filters.bias()));
    }

    private Filters filters(Bindings parameters) {
        Var weight = parameters.get(name + ".weight");
        if (finish.norm.isEmpty() || parameters.find(name + ".bias").isPresent()) { // no norm, or a folded one
            return new Filters(weight, parameters.get(name + ".bias"));
        }
        Bindings norm = parameters.under(finish.norm);
        return norm().filters(weight, norm.get("weight"), norm.get("bias"), statistics(norm));
    }

    private BatchNorm norm() {
        return new BatchNorm(finish.epsilon, BatchNorm.STANDARD.momentum());
    }

    private static BatchNorm.Statistics statistics(Bindings norm) {
        return new BatchNorm.Statistics(
                norm.get("running_mean").value(), norm.get("running_var").value());
    }
}
