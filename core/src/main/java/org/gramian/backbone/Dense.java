package org.gramian.backbone;

import java.util.List;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Matrices;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;

/**
 * Fully connected layer, {@code W·vec(x) + b}, with ReLU or no activation; the output is {@code [n, k, 1, 1]}.
 *
 * <p>Parameters: {@code name.weight [k, c·side·side]} and {@code name.bias [k]}. The input must be {@code side × side}.
 * Sums are computed in the type of the parameters: reading the weights dominates the time.
 *
 * @param name name of the layer and prefix of its parameters
 * @param channels number of outputs k
 * @param side rows and columns of the input
 * @param activation ReLU or none
 */
public record Dense(String name, int channels, int side, Activation activation) implements NetworkLayer {
    @Override
    public long channels(long entering) {
        return channels;
    }

    @Override
    public List<ParameterSpec> parameters(long entering) {
        return List.of(
                new ParameterSpec(
                        name + ".weight", Shape.of(channels, entering * side * side), Role.WEIGHT, Initializers.he()),
                new ParameterSpec(name + ".bias", Shape.of(channels), Role.BIAS, Initializers.constant(0)));
    }

    @Override
    public Shape output(Shape maps) {
        boolean fits = maps.at(1) == side && maps.at(2) == side;
        return fits ? Shape.of(channels, 1, 1) : Shape.of(channels, 0, 0);
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        long images = maps.shape().at(0);
        Bindings own = parameters.under(name);
        Var weight = own.get("weight");
        Var rows = Arithmetic.cast(
                Shapes.reshape(maps, images, maps.shape().elements() / images),
                weight.value().type());
        Var sums = Matrices.linear(rows, weight, own.get("bias"));
        Var ended = activation == Activation.RELU ? Arithmetic.relu(sums) : sums;
        return Shapes.reshape(ended, images, channels, 1, 1);
    }
}
