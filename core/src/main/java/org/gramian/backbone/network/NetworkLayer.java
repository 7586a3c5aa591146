package org.gramian.backbone.network;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.autodiff.network.FeatureMaps.ResponseNorm;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.Shape;

/**
 * Layer of a network, from feature maps {@code [n, c, h, w]} to feature maps {@code [n, c', h', w']}.
 *
 * <p>A layer may pass on another state than feature maps, such as the tokens {@code [n, t, d]} of a transformer;
 * {@link #features} then extracts the feature maps.
 *
 * <p>The interface is sealed, so that an exporter can handle all kinds in an exhaustive switch.
 */
public sealed interface NetworkLayer
        permits Conv,
                FilterBank,
                Patches,
                VisionTransformer.TokenLayer,
                VisionTransformer.ClassToken,
                ConvNext.Block,
                ConvNext.ChannelNorm,
                OnnxStage,
                NetworkLayer.Pool,
                NetworkLayer.Dense,
                NetworkLayer.ResponseNormalization,
                NetworkLayer.Chain,
                NetworkLayer.Branches,
                NetworkLayer.Residual,
                NetworkLayer.TopDown,
                NetworkLayer.SqueezeExcitation,
                NetworkLayer.Fused {
    /** Last layer of every network with class scores. */
    String LOGITS = "logits";

    /** Channels of an image. */
    int COLOURS = 3;

    /** Returns the name, unique in the network. */
    String name();

    /** Returns the layers that this one consists of, which all have the same input unless it says otherwise. */
    default List<NetworkLayer> parts() {
        return List.of();
    }

    /** Returns the number of output channels c', by default as many as enter. */
    default long channels(long entering) {
        return entering;
    }

    /** Returns the parameters under their full names, by default those of the parts. */
    default List<ParameterSpec> parameters(long entering) {
        return parts().stream()
                .flatMap(part -> part.parameters(entering).stream())
                .toList();
    }

    /**
     * Returns the shape {@code [c', h', w']} of the feature maps of the output, by default that of the input; a side is 0 if
     * the input is too small.
     *
     * @param maps shape of the feature maps of the input, {@code [c, h, w]}
     */
    default Shape output(Shape maps) {
        return maps;
    }

    /**
     * Applies the layer.
     *
     * @param state output of the layer before: {@code [n, c, h, w]}, or the tokens that this layer expects
     * @return {@code [n, c', h', w']}, or tokens
     */
    Var apply(Var state, Bindings parameters);

    /**
     * Returns the feature maps of an output of this layer, without copying.
     *
     * @return {@code [n, c', h', w']}
     */
    default Var features(Var state, Shape maps) {
        return state;
    }

    /**
     * Estimates the number of elements that training keeps of one image: by default the output, as many intermediate
     * values and a gradient.
     */
    default long activations(Shape maps) {
        return 3 * output(maps).elements();
    }

    /** Returns the convolutions of this layer and of its parts. */
    default Stream<Conv> convolutions() {
        return parts().stream().flatMap(NetworkLayer::convolutions);
    }

    /** Returns whether the output is feature maps, so that they determine the layers that follow. */
    default boolean passesMaps() {
        return true;
    }

    /**
     * Maximum pooling over windows, or global average pooling.
     *
     * @param window sliding window; unused for the global mean
     */
    record Pool(String name, Kind kind, Window window) implements NetworkLayer {
        public enum Kind {
            MAX,
            GLOBAL_AVERAGE
        }

        /** Returns maximum pooling without padding. */
        public static Pool max(String name, int size, int stride) {
            return new Pool(name, Kind.MAX, Window.of(size, stride));
        }

        public static Pool globalAverage(String name) {
            return new Pool(name, Kind.GLOBAL_AVERAGE, Window.of(1, 1));
        }

        public Pool padded(int border) {
            return new Pool(name, kind, window.padded(border, border));
        }

        /** Returns this pooling with incomplete windows at the end included, as in Caffe. */
        Pool roundedUp() {
            return new Pool(name, kind, window.roundedUp());
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
     * Fully connected layer, {@code f(W·vec(x) + b)} with an activation f; the output is {@code [n, k, 1, 1]}.
     *
     * <p>Parameters: {@code name.weight [k, c·side·side]} and {@code name.bias [k]}. The input must be {@code side ×
     * side}. Sums are computed in the type of the parameters: reading the weights dominates the time.
     */
    record Dense(String name, int channels, int side, Activation activation) implements NetworkLayer {
        @Override
        public long channels(long entering) {
            return channels;
        }

        @Override
        public List<ParameterSpec> parameters(long entering) {
            return Patches.linear(name, channels, entering * side * side);
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
            Var rows = maps.reshape(images, maps.shape().elements() / images)
                    .to(weight.value().type());
            Var sums = rows.linear(weight, own.get("bias"));
            return sums.activate(activation).reshape(images, channels, 1, 1);
        }
    }

    /** Local response normalization across channels. */
    record ResponseNormalization(String name, ResponseNorm norm) implements NetworkLayer {
        @Override
        public Var apply(Var maps, Bindings parameters) {
            return FeatureMaps.localResponseNorm(maps, norm);
        }
    }

    /** Layers in sequence, as one layer. */
    record Chain(String name, List<NetworkLayer> stages) implements NetworkLayer {
        public Chain {
            stages = List.copyOf(stages);
        }

        public static Chain of(String name, NetworkLayer... stages) {
            return new Chain(name, List.of(stages));
        }

        @Override
        public List<NetworkLayer> parts() {
            return stages;
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

        @Override
        public Var features(Var state, Shape maps) {
            return stages.isEmpty() ? state : stages.getLast().features(state, maps);
        }

        @Override
        public long activations(Shape maps) {
            int last = stages.size() - 1;
            Shape entering = last < 0 ? maps : new Chain(name, stages.subList(0, last)).output(maps);
            return last < 0 || entering.elements() == 0 ? 0 : stages.get(last).activations(entering);
        }

        @Override
        public boolean passesMaps() {
            return stages.isEmpty() || stages.getLast().passesMaps();
        }
    }

    /** Layers in parallel on the same input, concatenated along channels. */
    record Branches(String name, List<NetworkLayer> branches) implements NetworkLayer {
        public Branches {
            branches = List.copyOf(branches);
        }

        public static Branches of(String name, NetworkLayer... branches) {
            return new Branches(name, List.of(branches));
        }

        @Override
        public long channels(long entering) {
            return branches.stream()
                    .mapToLong(branch -> branch.channels(entering))
                    .sum();
        }

        @Override
        public List<NetworkLayer> parts() {
            return branches;
        }

        @Override
        public Shape output(Shape maps) {
            return branches.getFirst().output(maps).with(0, channels(maps.at(0)));
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            return Var.concat(
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
     * @param shortcut shortcut; an empty chain is the identity
     */
    record Residual(String name, Chain body, Chain shortcut, Activation activation) implements NetworkLayer {
        @Override
        public long channels(long entering) {
            return body.channels(entering);
        }

        @Override
        public List<NetworkLayer> parts() {
            return List.of(body, shortcut);
        }

        @Override
        public Shape output(Shape maps) {
            return body.output(maps);
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Var residual = shortcut.apply(maps, parameters);
            return body.apply(maps, parameters).add(residual).activate(activation);
        }
    }

    /**
     * Adds the features of coarser feature maps, {@code activation(resize(body(x)) + x)}, where {@code resize} enlarges
     * bilinearly to the size of x (Lin et al., "Feature Pyramid Networks for Object Detection", CVPR 2017).
     *
     * @param body layers of smaller maps, with as many output as input channels
     */
    record TopDown(String name, Chain body, Activation activation) implements NetworkLayer {
        @Override
        public List<NetworkLayer> parts() {
            return List.of(body);
        }

        @Override
        public Shape output(Shape maps) {
            Shape coarse = body.output(maps);
            return coarse.elements() == 0 ? coarse : maps;
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Shape shape = maps.shape();
            Var coarse = body.apply(maps, parameters);
            Var fine = Interpolation.resize(coarse, shape.at(2), shape.at(3));
            return fine.add(maps).activate(activation);
        }
    }

    /**
     * Squeeze-and-excitation, {@code x·g(x)} with a factor per channel {@code g(x) = gate(W₂·f(W₁·mean(x) + b₁) + b₂)}
     * (Hu, Shen and Sun, "Squeeze-and-Excitation Networks", CVPR 2018).
     *
     * <p>Parameters, under torchvision's names: {@code name.fc1.weight [s, c, 1, 1]}, {@code name.fc1.bias [s]}, {@code
     * name.fc2.weight [c, s, 1, 1]} and {@code name.fc2.bias [c]}.
     *
     * @param gate g: global average pooling and two 1×1 convolutions, {@code [n, c, h, w]} to {@code [n, c, 1, 1]}
     */
    record SqueezeExcitation(String name, Chain gate) implements NetworkLayer {
        /** Returns squeeze-and-excitation of a number of channels c. */
        public static SqueezeExcitation of(
                String name, int channels, int squeezed, Activation inner, Activation outer) {
            return new SqueezeExcitation(
                    name,
                    Chain.of(
                            name + ".gate",
                            Pool.globalAverage(name + ".avgpool"),
                            Conv.of(name + ".fc1", squeezed, 1).activation(inner),
                            Conv.of(name + ".fc2", channels, 1).activation(outer)));
        }

        @Override
        public List<NetworkLayer> parts() {
            return List.of(gate);
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            return maps.mul(gate.apply(maps, parameters));
        }
    }

    /** Replaces layers by others with the same parameters and results. */
    @FunctionalInterface
    interface Rewriting {
        /**
         * Rewrites layers in sequence.
         *
         * @param isFeature whether the output of a layer is used on its own
         */
        List<NetworkLayer> apply(List<NetworkLayer> layers, Predicate<NetworkLayer> isFeature);
    }

    /** Layer that takes the place of other layers, with their name, parameters and output. */
    non-sealed interface Fused extends NetworkLayer {
        NetworkLayer plain();

        @Override
        default String name() {
            return plain().name();
        }

        @Override
        default long channels(long entering) {
            return plain().channels(entering);
        }

        @Override
        default List<ParameterSpec> parameters(long entering) {
            return plain().parameters(entering);
        }

        @Override
        default Shape output(Shape maps) {
            return plain().output(maps);
        }

        @Override
        default Var features(Var state, Shape maps) {
            return plain().features(state, maps);
        }

        @Override
        default long activations(Shape maps) {
            return plain().activations(maps);
        }

        @Override
        default Stream<Conv> convolutions() {
            return plain().convolutions();
        }

        @Override
        default boolean passesMaps() {
            return plain().passesMaps();
        }
    }
}
