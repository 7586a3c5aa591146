package org.gramian.backbone.network;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Tokens;
import org.gramian.tensor.Shape;

/**
 * Convolution over patches that do not overlap: {@code [n, c, h, w]} to {@code [n, k, ⌊h/p⌋, ⌊w/p⌋]}. Rows and columns
 * after the last whole patch are ignored.
 *
 * <p>Parameters: {@code name.weight [k, c, p, p]} and {@code name.bias [k]}.
 */
public record Patches(String name, int channels, int size) implements NetworkLayer {
    @Override
    public long channels(long entering) {
        return channels;
    }

    @Override
    public List<ParameterSpec> parameters(long entering) {
        return List.of(
                new ParameterSpec(
                        name + ".weight", Shape.of(channels, entering, size, size), Role.WEIGHT, Initializer.he()),
                new ParameterSpec(name + ".bias", Shape.of(channels), Role.BIAS, Initializer.constant(0)));
    }

    @Override
    public Shape output(Shape maps) {
        return Shape.of(channels, maps.at(1) / size, maps.at(2) / size);
    }

    /** Computes the convolution as one matrix product of patches {@code [n·h·w, c·p·p]} and filters. */
    @Override
    public Var apply(Var maps, Bindings parameters) {
        Bindings own = parameters.under(name);
        Shape shape = maps.shape();
        long rows = shape.at(2) / size;
        long columns = shape.at(3) / size;
        long elements = shape.at(1) * size * size;
        Var whole = maps.slice(2, 0, rows * size).slice(3, 0, columns * size);
        Var patches = whole.split(3, columns, size).split(2, rows, size).permute(0, 2, 4, 1, 3, 5);
        Var filters = own.get("weight").reshape(channels, elements);
        Var rowsOfPatches = patches.reshape(shape.at(0), rows, columns, elements);
        return Tokens.toMaps(Tokens.linear(rowsOfPatches, filters, own.get("bias")));
    }

    /** Returns the parameters {@code weight [k, d]} and {@code bias [k]} of a linear layer. */
    static List<ParameterSpec> linear(String name, long leaving, long entering) {
        return List.of(
                new ParameterSpec(name + ".weight", Shape.of(leaving, entering), Role.WEIGHT, Initializer.he()),
                new ParameterSpec(name + ".bias", Shape.of(leaving), Role.BIAS, Initializer.constant(0)));
    }

    /** Returns the parameters {@code weight [d]} and {@code bias [d]} of a layer norm. */
    static List<ParameterSpec> norm(String name, long channels) {
        return List.of(
                new ParameterSpec(name + ".weight", Shape.of(channels), Role.BIAS, Initializer.constant(1)),
                new ParameterSpec(name + ".bias", Shape.of(channels), Role.BIAS, Initializer.constant(0)));
    }
}
