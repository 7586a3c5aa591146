package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.NetworkLayer.Chain;
import org.gramian.backbone.network.NetworkLayer.Rewriting;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * One network of a backbone with its feature layers.
 *
 * @param prefix name of the network in a joint backbone: its layers are {@code prefix:layer}, its parameters {@code
 *     prefix.name}; empty for a backbone of one network
 * @param given preprocessing of the images that arrive, which a joint backbone has once
 * @param computed layers up to the last feature layer after the rewriting
 */
record BackbonePart(
        String prefix, LayerSelection cut, Preprocessing given, Rewriting rewriting, List<NetworkLayer> computed) {
    private static final int MOST_NETWORKS = 3;

    /** Creates a part that computes its layers as they are. */
    BackbonePart(String prefix, LayerSelection cut, Preprocessing given) {
        this(prefix, cut, given, (layers, _) -> layers, cut.stages());
    }

    BackbonePart rewritten(Rewriting replacement) {
        return new BackbonePart(prefix, cut, given, replacement, replacement.apply(cut.stages(), cut::takes));
    }

    /** Returns the networks of a joint backbone, cut at their default layers. */
    static List<BackbonePart> joint(String name) {
        List<String> names = List.of(name.split(Pattern.quote(Backbone.AND), -1));
        List<Network> networks = names.stream().map(Backbones::network).toList();
        boolean weighted =
                networks.stream().allMatch(network -> network.about().weights().needed());
        if (Set.copyOf(names).size() != names.size() || names.size() > MOST_NETWORKS || !weighted) {
            throw new IllegalArgumentException(
                    "expected two or three different backbones that need weights, found '" + name + "'");
        }
        Preprocessing given = networks.getFirst().about().preprocessing();
        return networks.stream()
                .map(network -> new BackbonePart(
                        network.name(),
                        LayerSelection.of(network, network.cuts().defaultLayer()),
                        given))
                .toList();
    }

    /**
     * Cuts each network of a joint backbone at its own layers.
     *
     * @param layers names of layers, each with the name of its network
     * @param example such names, for the message
     * @throws IllegalArgumentException if a layer belongs to no network, or a network has none
     */
    static List<BackbonePart> cut(List<BackbonePart> parts, String layers, String example) {
        List<String> all = List.of(layers.split(Pattern.quote(Backbone.AND), -1));
        List<BackbonePart> cut = new ArrayList<>();
        int used = 0;
        for (BackbonePart part : parts) {
            List<String> own = all.stream()
                    .filter(layer -> layer.startsWith(part.layer("")))
                    .map(layer -> layer.substring(part.layer("").length()))
                    .toList();
            used += own.size();
            if (!own.isEmpty()) {
                cut.add(part.cutAt(String.join(Backbone.AND, own)));
            }
        }
        if (used != all.size() || cut.size() != parts.size()) {
            throw new IllegalArgumentException(
                    "expected layers of each network, e.g. " + example + ", found '" + layers + "'");
        }
        return cut;
    }

    Network network() {
        return cut.network();
    }

    BackbonePart cutAt(String layers) {
        return new BackbonePart(prefix, LayerSelection.of(network(), layers), given);
    }

    /** Returns the name of a layer in the backbone. */
    String layer(String own) {
        return prefix.isEmpty() ? own : prefix + ":" + own;
    }

    Stream<String> layers(List<NetworkLayer> stages) {
        return stages.stream().map(stage -> layer(stage.name()));
    }

    /** Returns the parameters of some stages under their names in the backbone. */
    Stream<ParameterSpec> parameters(List<NetworkLayer> stages) {
        return new Chain(cut.text(), stages)
                .parameters(NetworkLayer.COLOURS).stream().map(this::named);
    }

    /** Estimates the number of elements that training keeps of one image, for each computed layer. */
    Stream<Long> activations(int height, int width) {
        List<Long> each = new ArrayList<>();
        Shape maps = Shape.of(NetworkLayer.COLOURS, height, width);
        for (NetworkLayer stage : cut.stages()) {
            each.add(stage.activations(maps));
            maps = stage.output(maps);
        }
        return each.stream();
    }

    /**
     * Computes the features of images {@code [n, 3, h, w]}.
     *
     * @param layers receives the maps of each feature layer before they are resized
     */
    Var apply(Var images, Bindings parameters, @Nullable BiConsumer<String, Var> listener, Consumer<Var> layers) {
        List<NetworkLayer> stages = listener == null ? computed : cut.stages();
        return run(stages, adapted(images), new ArrayList<>(), own(parameters), listener, layers);
    }

    private Bindings own(Bindings parameters) {
        return prefix.isEmpty() ? parameters : parameters.under(prefix);
    }

    private ParameterSpec named(ParameterSpec spec) {
        return prefix.isEmpty() ? spec : spec.under(prefix);
    }

    /** Returns weights and biases of the convolutions with a batch norm, the norm folded into them. */
    Stream<ParameterSpec> folded(Bindings parameters) {
        Bindings own = own(parameters);
        return cut.stages().stream()
                .flatMap(NetworkLayer::convolutions)
                .flatMap(conv -> conv.folded(own).entrySet().stream())
                .map(entry -> {
                    Tensor value = entry.getValue().value();
                    return named(
                            new ParameterSpec(entry.getKey(), value.shape(), Role.FITTED, (_, _, _) -> value.copy()));
                });
    }

    /** Converts images to the preprocessing of this network. */
    private Var adapted(Var images) {
        Preprocessing.Change change = given.to(network().about().preprocessing());
        if (prefix.isEmpty() || change.isNone()) {
            return images;
        }
        List<Var> channels = new ArrayList<>();
        for (int i = 0; i < NetworkLayer.COLOURS; i++) {
            int from = change.channels().get(i);
            Var channel = images.slice(1, from, from + 1L);
            channels.add(
                    channel.mul(change.factors().get(i)).add(change.summands().get(i)));
        }
        return Var.concat(channels, 1);
    }

    /** Computes the features from the output of a layer, by the layers after it. */
    Var after(List<NetworkLayer> stages, Var maps, List<Var> taken, Bindings parameters) {
        return run(rewriting.apply(stages, cut::takes), maps, taken, parameters, null, _ -> {});
    }

    /** Computes the features from the input of a layer and the feature layers before it. */
    private Var run(
            List<NetworkLayer> stages,
            Var start,
            List<Var> taken,
            Bindings parameters,
            @Nullable BiConsumer<String, Var> listener,
            Consumer<Var> layers) {
        Tape tape = start.tape();
        int begun = tape.mark();
        int mark = begun;
        Var state = start;
        Shape maps =
                Shape.of(start.shape().at(1), start.shape().at(2), start.shape().at(3));
        for (NetworkLayer stage : stages) {
            state = stage.apply(state, parameters);
            maps = stage.output(maps);
            if (listener != null) {
                listener.accept(layer(stage.name()), stage.features(state, maps));
            }
            tape.keepOnly(state, mark);
            if (cut.takes(stage)) {
                taken.add(stage.features(state, maps));
                mark = tape.mark(); // values before the mark are kept
            }
        }
        taken.forEach(layers);
        Var features = stacked(taken);
        tape.keepOnly(features, begun);
        return features;
    }

    /** Resizes feature maps to the size of the first and concatenates them along channels. */
    static Var stacked(List<Var> taken) {
        if (taken.size() == 1) {
            return taken.getFirst();
        }
        Shape grid = taken.getFirst().shape();
        return Var.concat(
                taken.stream()
                        .map(maps -> Interpolation.resize(maps, grid.at(2), grid.at(3)))
                        .toList(),
                1);
    }
}
