package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;

/**
 * Layers in sequence, as one layer.
 *
 * @param name name of the layer
 * @param stages parts in order
 */
public record Chain(String name, List<NetworkLayer> stages) implements NetworkLayer {
    public Chain {
        stages = List.copyOf(stages);
    }

    static Chain of(String name, NetworkLayer... stages) {
        return new Chain(name, List.of(stages));
    }

    @Override
    public long channels(long entering) {
        long channels = entering;
        for (NetworkLayer stage : stages) {
            channels = stage.channels(channels);
        }
        return channels;
    }

    @Override
    public List<ParameterSpec> parameters(long entering) {
        List<ParameterSpec> all = new ArrayList<>();
        long channels = entering;
        for (NetworkLayer stage : stages) {
            all.addAll(stage.parameters(channels));
            channels = stage.channels(channels);
        }
        return List.copyOf(all);
    }

    @Override
    public Shape output(Shape maps) {
        Shape shape = maps;
        for (NetworkLayer stage : stages) {
            shape = shape.elements() == 0 ? shape : stage.output(shape);
        }
        return shape;
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Var result = maps;
        for (NetworkLayer stage : stages) {
            result = stage.apply(result, parameters);
        }
        return result;
    }
}
