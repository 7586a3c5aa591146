package org.gramian.backbone;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbones.OnnxNetworks;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.NetworkLayer.Rewriting;
import org.gramian.backbone.onnx.OnnxGraph;
import org.gramian.basis.NearestWord;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * Network up to one or several feature layers: images {@code [n, 3, h, w]} to feature maps {@code [n, c,
 * h', w']}.
 *
 * <p>The features of a layer are its output after the activation: those of VGG's {@code conv5_3} are rectified. On a
 * tape, parameters bound to variables are trained and parameters bound to constants are frozen. Without gradients only
 * the maps of one layer are kept at a time.
 */
public final class Backbone {
    /** Last layer of every network with class scores: {@code [1000, 1, 1]} for ImageNet. */
    public static final String LOGITS = NetworkLayer.LOGITS;

    /** Between networks, and between layers. */
    static final String AND = "+";

    /** Upper bound of the search for the smallest image size. */
    private static final int LARGEST_MINIMUM = 512;

    /** Largest number of characters of a definition; that of a network with 2,000 operators has about 400,000. */
    static final int LONGEST_DEFINITION = 8_000_000;

    private final String name;
    private final List<BackbonePart> parts;
    private final Optional<String> definition;

    private Backbone(String name, List<BackbonePart> parts, Optional<String> definition) {
        this.name = name;
        this.parts = List.copyOf(parts);
        this.definition = definition;
    }

    private Backbone(LayerSelection cut, Optional<String> definition) {
        this(
                cut.network().name(),
                List.of(new BackbonePart("", cut, cut.network().about().preprocessing())),
                definition);
    }

    /**
     * Returns a network with its default feature layer, or several networks on the same image.
     *
     * <p>The features of {@code a+b} are those of a and b, resized to the height and width of a's and concatenated along
     * channels. Layers are named {@code a:layer}. Images are preprocessed for a; b converts them.
     *
     * @param name name of the network, such as {@code vgg16}, or of two or three, such as {@code vgg16+resnet50}
     * @throws IllegalArgumentException if a name is unknown; the message lists all names
     */
    public static Backbone of(String name) {
        return name.contains(AND)
                ? new Backbone(name, BackbonePart.joint(name), Optional.empty())
                : of(Backbones.network(name), Optional.empty());
    }

    /**
     * Returns this backbone with other layers computed by {@link #apply} and {@link #after}; {@link #trace} computes the original
     * ones.
     *
     * @param rewriting replaces layers by others with the same parameters and results; these types are internal to Gramian
     */
    @SuppressWarnings("exports")
    public Backbone rewritten(Rewriting rewriting) {
        return new Backbone(
                name, parts.stream().map(part -> part.rewritten(rewriting)).toList(), definition);
    }

    /** Returns the networks of a joint backbone, each with its feature layers; else this backbone alone. */
    public List<Backbone> networks() {
        return parts.size() == 1
                ? List.of(this)
                : parts.stream()
                        .map(part -> new Backbone(part.cut(), Optional.empty()))
                        .toList();
    }

    /** Returns the only network. */
    private BackbonePart only() {
        if (parts.size() > 1) {
            throw new IllegalArgumentException("expected one network, found the joint backbone " + name);
        }
        return parts.getFirst();
    }

    private static Backbone of(Network network, Optional<String> definition) {
        return new Backbone(LayerSelection.of(network, network.cuts().defaultLayer()), definition);
    }

    /**
     * Returns a network that is not built in, with its default feature layer.
     *
     * @param definition graph as {@link #definition} returns it; need not be trusted
     * @throws IllegalArgumentException if the name is taken or the definition is not a valid graph
     */
    public static Backbone of(String name, String definition, Preprocessing preprocessing) {
        if (Backbones.names().contains(name)) {
            throw new IllegalArgumentException("expected a built-in definition of " + name
                    + ", found another; choose a name that is not built in");
        }
        if (definition.length() > LONGEST_DEFINITION) {
            throw new IllegalArgumentException("expected the definition of a network in at most " + LONGEST_DEFINITION
                    + " characters, found " + definition.length());
        }
        return of(OnnxNetworks.network(name, OnnxGraph.of(definition), preprocessing), Optional.of(definition));
    }

    /** Returns the graph of a network that is not built in, as an ONNX file in Base64 without weights; empty for a built-in one. */
    public Optional<String> definition() {
        return definition;
    }

    /**
     * Returns a network with the given feature layer or layers.
     *
     * <p>Maps of later layers are resized bilinearly to the height and width of the first, as {@code torch.nn.functional.interpolate} does,
     * and all are concatenated along channels in that order.
     *
     * @param layer one layer, or two to four as {@code a+b}
     * @throws IllegalArgumentException if a layer is unknown or the layers are not in the network's order
     */
    public static Backbone of(String name, String layer) {
        return of(name).cutAt(layer);
    }

    /**
     * Returns the same network with another feature layer or layers.
     *
     * <p>A network that is not built in can be cut at any tensor, also inside a branch; it then ends there.
     *
     * @throws IllegalArgumentException if a layer is unknown or the layers are not in the network's order
     */
    public Backbone cutAt(String layer) {
        if (parts.size() > 1) {
            return new Backbone(name, BackbonePart.cut(parts, layer, defaultLayer()), definition);
        }
        Network network = only().network();
        boolean inside = definition.isPresent() && !layer.contains(AND) && !layers().contains(layer);
        Network cutNetwork = inside ? OnnxNetworks.upTo(layer, network, definition.get()) : network;
        return new Backbone(LayerSelection.of(cutNetwork, layer), definition);
    }

    /**
     * Returns the part of the network after the last feature layer, up to the layer before the class scores.
     *
     * @throws IllegalArgumentException if no layer follows
     */
    public ClassifierTail tail() {
        if (parts.size() > 1) {
            throw new IllegalArgumentException(
                    "the joint backbone " + name + " has no tail; use average instead, or one backbone");
        }
        return new ClassifierTail(only().cut());
    }

    /** Returns the name of the network, such as {@code vgg16}. */
    public String name() {
        return name;
    }

    /** Returns the feature layer, such as {@code conv5_3}, or layers, such as {@code conv5_2+conv5_3}. */
    public String layer() {
        return String.join(AND, cutLayers());
    }

    /**
     * Returns the computed layers of a type in order, up to the last feature layer, of a backbone of one network.
     *
     * @param type type of layer; these types are internal to Gramian
     */
    public <T> List<T> stages(Class<T> type) {
        return only().cut().stages().stream()
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    private <T> List<T> all(Function<BackbonePart, Stream<T>> values) {
        return parts.stream().flatMap(values).toList();
    }

    /** Returns the names of the computed layers, up to the last feature layer. */
    public List<String> layersUsed() {
        return all(part -> part.layers(part.cut().stages()));
    }

    /** Returns the names of all layers of the network in order. */
    public List<String> layers() {
        return all(part -> part.layers(part.network().stages()));
    }

    /** Returns a selection of layers of each network, {@code a+b}. */
    private String selection(Function<Network.Cuts, String> layers) {
        return String.join(
                AND,
                all(part -> Stream.of(layers.apply(part.network().cuts()).split(Pattern.quote(AND), -1))
                        .map(part::layer)));
    }

    /** Returns the default feature layer. */
    public String defaultLayer() {
        return selection(Network.Cuts::defaultLayer);
    }

    /** Returns the feature layer or layers ({@code a+b}) on which {@code --pooling auto} compares poolings. */
    public String selectionLayers() {
        return selection(Network.Cuts::selectionLayers);
    }

    /** Returns the feature layer or layers ({@code a+b}) that {@code --pooling auto} fine-tunes. */
    public String fineTunedLayers() {
        return selection(Network.Cuts::fineTunedLayers);
    }

    /** Returns title, citation, image size and origin of the weights. */
    public BackboneInfo about() {
        List<BackboneInfo> each =
                parts.stream().map(part -> part.network().about()).toList();
        return each.size() == 1 ? each.getFirst() : BackboneInfo.joint(each);
    }

    /** Returns the preprocessing of the usual weights. */
    public Preprocessing preprocessing() {
        return parts.getFirst().given();
    }

    /** Returns the parameters up to the last feature layer. */
    public List<ParameterSpec> parameters() {
        return all(part -> part.parameters(part.cut().stages()));
    }

    /** Returns the number of feature channels c, summed over all feature layers. */
    public long channels() {
        return channelsOfLayers().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the number of channels of each feature layer, in the order of {@link #cutLayers}. */
    public List<Long> channelsOfLayers() {
        return all(part -> part.cut().channels().stream());
    }

    /** Returns the feature layers, one to four, in the network's order. */
    public List<String> cutLayers() {
        return all(part -> part.cut().layers().stream().map(part::layer));
    }

    /** Returns the names of the parameters that only class scores need, independent of the feature layer. */
    public Set<String> classifier() {
        // Names do not depend on how many maps enter.
        return new LinkedHashSet<>(all(part -> part.network().classifier().stream()
                .flatMap(stage -> part.parameters(List.of(stage)))
                .map(ParameterSpec::name)));
    }

    /** Counts the trainable numbers up to the last feature layer, without batch-norm statistics and fixed filters. */
    public long parameterCount() {
        return parameters().stream()
                .filter(spec -> spec.role() != Role.FITTED)
                .mapToLong(spec -> spec.shape().elements())
                .sum();
    }

    /**
     * Returns the shape {@code [c, h', w']} of the features of one image.
     *
     * @throws IllegalArgumentException if the image is too small
     */
    public Shape features(int height, int width) {
        if (height < 1 || width < 1) {
            throw new IllegalArgumentException("expected images of at least 1×1, found " + height + "×" + width);
        }
        for (BackbonePart part : parts) {
            Shape maps = Shape.of(NetworkLayer.COLOURS, height, width);
            for (NetworkLayer stage : part.cut().stages()) {
                maps = stage.output(maps);
                if (maps.elements() == 0) {
                    throw new IllegalArgumentException("images of " + height + "×" + width + " do not fit " + this
                            + ": the input of layer " + part.layer(stage.name())
                            + " is too small or of the wrong size; " + smallest());
                }
            }
        }
        return parts.getFirst().cut().features(height, width).with(0, channels());
    }

    /** Estimates the number of elements that training keeps of one image, for each computed layer. */
    public List<Long> activations(int height, int width) {
        return all(part -> part.activations(height, width));
    }

    /** Returns whether images of that size can be used. */
    public boolean fits(int height, int width) {
        return height > 0
                && width > 0
                && parts.stream()
                        .allMatch(part -> part.cut().features(height, width).elements() > 0);
    }

    private String smallest() {
        return IntStream.rangeClosed(1, LARGEST_MINIMUM)
                .filter(side -> fits(side, side))
                .mapToObj(side -> "the smallest square that fits is " + side + "×" + side)
                .findFirst()
                .orElse("no square of up to " + LARGEST_MINIMUM + " fits");
    }

    /**
     * Computes the features.
     *
     * @param images preprocessed images {@code [n, 3, h, w]}
     * @param parameters a variable for each of {@link #parameters}
     * @return {@code [n, c, h', w']}
     */
    public Var apply(Var images, Bindings parameters) {
        return runChecked(images, parameters, null, _ -> {});
    }

    /**
     * Computes the features.
     *
     * @param layers receives the maps of each of {@link #cutLayers} in order, before they are resized; valid during the call
     */
    public Var apply(Var images, Bindings parameters, Consumer<Var> layers) {
        return runChecked(images, parameters, null, layers);
    }

    /**
     * Folds batch norms into their convolutions, for inference: bound together with the parameters, in their place, the
     * result gives the same features in less time.
     *
     * @param parameters values of {@link #parameters}, which must not change
     * @return weights and biases of the convolutions with a batch norm; the caller closes them
     */
    public ParameterSet folded(ParameterSet parameters) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Bindings bindings = Bindings.of(parameters.variables(tape));
            List<ParameterSpec> specs =
                    parts.stream().flatMap(part -> part.folded(bindings)).toList();
            return specs.isEmpty()
                    ? new ParameterSet()
                    : ParameterSet.initialize(
                            specs,
                            new SplittableRandom(0),
                            parameters.all().iterator().next().value().type(),
                            parameters.all().iterator().next().value().device());
        }
    }

    /**
     * Computes the features and reports the output of every layer.
     *
     * @param listener called with the name and the output of each layer as soon as it is computed; on an inference tape
     *     the output is valid only during the call
     */
    public Var trace(Var images, Bindings parameters, BiConsumer<String, Var> listener) {
        return runChecked(images, parameters, listener, _ -> {});
    }

    /** Checks the images and computes the features; without a listener no maps are made of tokens for it. */
    private Var runChecked(
            Var images, Bindings parameters, @Nullable BiConsumer<String, Var> listener, Consumer<Var> layers) {
        Shape shape = images.shape();
        if (shape.rank() != 4 || shape.at(1) != NetworkLayer.COLOURS || shape.at(0) == 0) {
            throw new IllegalArgumentException(
                    this + ": expected images [n, 3, height, width], found " + images.value());
        }
        features(Math.toIntExact(shape.at(2)), Math.toIntExact(shape.at(3)));
        Tape tape = images.tape();
        int begun = tape.mark();
        List<Var> each = new ArrayList<>();
        for (BackbonePart part : parts) {
            each.add(part.apply(images, parameters, listener, layers));
        }
        Var features = BackbonePart.stacked(each);
        tape.keepOnly(features, begun);
        return features;
    }

    /**
     * Computes the features from the output of an earlier layer.
     *
     * @param layer a computed layer, not later than the first feature layer
     * @param maps output of that layer
     * @param parameters a variable for each of {@link #parameters}
     * @return {@code [n, c, h', w']}
     * @throws IllegalArgumentException if the features need other layers too; the message names the possible layers
     */
    public Var after(String layer, Var maps, Bindings parameters) {
        if (layer.equals(layer())) {
            return maps;
        }
        List<String> whole = wholeLayers();
        if (!whole.contains(layer)) {
            throw new IllegalArgumentException(
                    "the features of " + this + " cannot be computed from the layer '" + layer + "'"
                            + NearestWord.suggestion(layer, whole) + " alone; use one of " + String.join(", ", whole));
        }
        LayerSelection cut = only().cut();
        List<NetworkLayer> all = cut.stages();
        int next = layersUsed().indexOf(layer) + 1;
        List<Var> taken = new ArrayList<>();
        if (cut.takes(all.get(next - 1))) {
            taken.add(maps);
        }
        return only().after(all.subList(next, all.size()), maps, taken, parameters);
    }

    /**
     * Returns the layers whose feature maps alone determine the features: those up to the first feature layer, without
     * layers that pass on more than their maps, unless they are the only feature layer. Of a joint backbone these are the
     * features themselves.
     */
    public List<String> wholeLayers() {
        if (parts.size() > 1) {
            return List.of(layer());
        }
        List<NetworkLayer> used = only().cut().stages();
        return used.subList(0, layersUsed().indexOf(cutLayers().getFirst()) + 1).stream()
                .filter(stage -> stage.passesMaps() || stage.name().equals(layer()))
                .map(NetworkLayer::name)
                .toList();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Backbone backbone
                && name().equals(backbone.name())
                && layer().equals(backbone.layer())
                && definition.equals(backbone.definition);
    }

    @Override
    public int hashCode() {
        return 31 * name().hashCode() + layer().hashCode();
    }

    /** Returns network and feature layer, such as {@code vgg16:conv5_3}. */
    @Override
    public String toString() {
        return name() + ":" + layer();
    }
}
