package org.gramian.backbone;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;

/**
 * Layers in parallel on the same input, concatenated along channels.
 *
 * @param name name of the layer
 * @param branches parts in the order of their channels
 */
public record Branches(String name, List<NetworkLayer> branches) implements NetworkLayer {
    public Branches {
        branches = List.copyOf(branches);
    }

    static Branches of(String name, NetworkLayer... branches) {
        return new Branches(name, List.of(branches));
    }

    @Override
    public long channels(long entering) {
        return branches.stream().mapToLong(branch -> branch.channels(entering)).sum();
    }

    @Override
    public List<ParameterSpec> parameters(long entering) {
        return branches.stream()
                .flatMap(branch -> branch.parameters(entering).stream())
                .toList();
    }

    @Override
    public Shape output(Shape maps) {
        return branches.getFirst().output(maps).with(0, channels(maps.at(0)));
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        return Shapes.concat(
                branches.stream().map(branch -> branch.apply(maps, parameters)).toList(), 1);
    }
}
