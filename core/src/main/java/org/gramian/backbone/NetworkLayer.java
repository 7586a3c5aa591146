package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.FeatureMaps.ResponseNorm;
import org.gramian.autodiff.Matrices;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Window;

/**
 * Layer of a network, from feature maps {@code [n, c, h, w]} to feature maps {@code [n, c', h', w']}.
 *
 * <p>The interface is sealed, so that an exporter can handle all kinds in an exhaustive switch.
 */
public sealed interface NetworkLayer
        permits Conv,
                FilterBank,
                NetworkLayer.Pool,
                NetworkLayer.Dense,
                NetworkLayer.ResponseNormalization,
                NetworkLayer.Chain,
                NetworkLayer.Branches,
                NetworkLayer.Residual {
    /** Returns the name, unique in the network. */
    String name();

    /**
     * Returns the number of output channels c'.
     *
     * @param entering number of input channels c
     */
    long channels(long entering);

    /**
     * Returns the parameters under their full names.
     *
     * @param entering number of input channels c
     */
    default List<ParameterSpec> parameters(long entering) {
        return List.of();
    }

    /**
     * Returns the output shape {@code [c', h', w']}; a side is 0 if the input is too small.
     *
     * @param maps input shape {@code [c, h, w]}
     */
    Shape output(Shape maps);

    /**
     * Applies the layer.
     *
     * @param maps {@code [n, c, h, w]}
     * @param parameters variables under their full names
     * @return {@code [n, c', h', w']}
     */
    Var apply(Var maps, Bindings parameters);

    /**
     * Maximum pooling over windows, or global average pooling.
     *
     * @param name name of the layer
     * @param kind maximum or mean
     * @param window sliding window; unused for the global mean
     */
    record Pool(String name, Kind kind, Window window) implements NetworkLayer {
        /** Kind of pooling. */
        public enum Kind {
            MAX,
            GLOBAL_AVERAGE
        }

        /** Returns maximum pooling without padding. */
        static Pool max(String name, int size, int stride) {
            return new Pool(name, Kind.MAX, Window.of(size, stride));
        }

        /** Returns global average pooling. */
        static Pool globalAverage(String name) {
            return new Pool(name, Kind.GLOBAL_AVERAGE, Window.of(1, 1));
        }

        /** Returns this pooling with padding on every side. */
        Pool padded(int border) {
            return new Pool(name, kind, window.padded(border, border));
        }

        /** Returns this pooling with incomplete windows at the end included, as in Caffe. */
        Pool roundedUp() {
            return new Pool(name, kind, window.roundedUp());
        }

        @Override
        public long channels(long entering) {
            return entering;
        }

        @Override
        public Shape output(Shape maps) {
            return switch (kind) {
                case MAX -> window.outputs(maps);
                case GLOBAL_AVERAGE -> Shape.of(maps.at(0), 1, 1);
            };
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            return switch (kind) {
                case MAX -> FeatureMaps.maxPool(maps, window);
                case GLOBAL_AVERAGE -> FeatureMaps.globalAveragePool(maps);
            };
        }
    }

    /**
     * Fully connected layer, {@code W·vec(x) + b}, with ReLU or no activation; the output is {@code [n, k, 1, 1]}.
     *
     * <p>Parameters: {@code name.weight [k, c·side·side]} and {@code name.bias [k]}. The input must be {@code side ×
     * side}. Sums are computed in the type of the parameters: reading the weights dominates the time.
     *
     * @param name name of the layer and prefix of its parameters
     * @param channels number of outputs k
     * @param side rows and columns of the input
     * @param activation ReLU or none
     */
    record Dense(String name, int channels, int side, Activation activation) implements NetworkLayer {
        @Override
        public long channels(long entering) {
            return channels;
        }

        @Override
        public List<ParameterSpec> parameters(long entering) {
            return List.of(
                    new ParameterSpec(
                            name + ".weight",
                            Shape.of(channels, entering * side * side),
                            Role.WEIGHT,
                            Initializer.he()),
                    new ParameterSpec(name + ".bias", Shape.of(channels), Role.BIAS, Initializer.constant(0)));
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

    /**
     * Local response normalization across channels.
     *
     * @param name name of the layer
     * @param norm constants
     */
    record ResponseNormalization(String name, ResponseNorm norm) implements NetworkLayer {
        @Override
        public long channels(long entering) {
            return entering;
        }

        @Override
        public Shape output(Shape maps) {
            return maps;
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            return FeatureMaps.localResponseNorm(maps, norm);
        }
    }

    /**
     * Layers in sequence, as one layer.
     *
     * @param name name of the layer
     * @param stages parts in order
     */
    record Chain(String name, List<NetworkLayer> stages) implements NetworkLayer {
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

    /**
     * Layers in parallel on the same input, concatenated along channels.
     *
     * @param name name of the layer
     * @param branches parts in the order of their channels
     */
    record Branches(String name, List<NetworkLayer> branches) implements NetworkLayer {
        public Branches {
            branches = List.copyOf(branches);
        }

        static Branches of(String name, NetworkLayer... branches) {
            return new Branches(name, List.of(branches));
        }

        @Override
        public long channels(long entering) {
            return branches.stream()
                    .mapToLong(branch -> branch.channels(entering))
                    .sum();
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
                    branches.stream()
                            .map(branch -> branch.apply(maps, parameters))
                            .toList(),
                    1);
        }
    }

    /**
     * Residual block, {@code activation(body(x) + shortcut(x))} (He et al., "Deep Residual Learning for Image
     * Recognition", CVPR 2016).
     *
     * @param name name of the layer
     * @param body residual branch
     * @param shortcut shortcut; an empty chain is the identity
     * @param activation activation of the sum
     */
    record Residual(String name, Chain body, Chain shortcut, Activation activation) implements NetworkLayer {
        @Override
        public long channels(long entering) {
            return body.channels(entering);
        }

        @Override
        public List<ParameterSpec> parameters(long entering) {
            return Stream.of(body, shortcut)
                    .flatMap(way -> way.parameters(entering).stream())
                    .toList();
        }

        @Override
        public Shape output(Shape maps) {
            return body.output(maps);
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            return FeatureMaps.add(body.apply(maps, parameters), shortcut.apply(maps, parameters), activation);
        }
    }
}
