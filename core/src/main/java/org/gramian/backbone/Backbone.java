package org.gramian.backbone;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.backbone.Backbones.OnnxNetworks;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.NetworkLayer.Chain;
import org.gramian.backbone.network.NetworkLayer.Rewriting;
import org.gramian.backbone.onnx.OnnxGraph;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
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

    /** Upper bound of the search for the smallest image size. */
    private static final int LARGEST_MINIMUM = 512;

    /** Largest number of characters of a definition; that of a network with 2,000 operators has about 400,000. */
    static final int LONGEST_DEFINITION = 8_000_000;

    private final LayerSelection cut;
    private final Optional<String> definition;

    /** Layers up to the last feature layer after the rewriting. */
    private final List<NetworkLayer> computed;

    private Backbone(LayerSelection cut, Optional<String> definition, Rewriting rewriting) {
        this.cut = cut;
        this.definition = definition;
        this.computed = rewriting.apply(cut.stages(), cut::takes);
    }

    private Backbone(LayerSelection cut, Optional<String> definition) {
        this(cut, definition, (layers, _) -> layers);
    }

    /**
     * Returns a network with its default feature layer.
     *
     * @param name name of the network, such as {@code vgg16}
     * @throws IllegalArgumentException if the name is unknown; the message lists all names
     */
    public static Backbone of(String name) {
        return of(Backbones.network(name), Optional.empty());
    }

    /**
     * Returns this backbone with other layers computed by {@link #apply}; {@link #trace} computes the original ones.
     *
     * @param replacement replaces layers by others with the same parameters and results; these types are internal to Gramian
     */
    @SuppressWarnings("exports")
    public Backbone rewritten(Rewriting replacement) {
        return new Backbone(cut, definition, replacement);
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
     * @throws IllegalArgumentException if a layer is unknown or the layers are not in the network's order
     */
    public Backbone cutAt(String layer) {
        return new Backbone(LayerSelection.of(cut.network(), layer), definition);
    }

    /**
     * Returns the part of the network after the last feature layer, up to the layer before the class scores.
     *
     * @throws IllegalArgumentException if no layer follows
     */
    public ClassifierTail tail() {
        return new ClassifierTail(cut);
    }

    /** Returns the name of the network, such as {@code vgg16}. */
    public String name() {
        return cut.network().name();
    }

    /** Returns the feature layer, such as {@code conv5_3}, or layers, such as {@code conv5_2+conv5_3}. */
    public String layer() {
        return cut.text();
    }

    /**
     * Returns the computed layers of a type in order, up to the last feature layer.
     *
     * @param type type of layer; these types are internal to Gramian
     */
    public <T> List<T> stages(Class<T> type) {
        return cut.stages().stream().filter(type::isInstance).map(type::cast).toList();
    }

    private static List<String> names(List<NetworkLayer> stages) {
        return stages.stream().map(NetworkLayer::name).toList();
    }

    private static List<ParameterSpec> parameters(List<NetworkLayer> stages) {
        return new Chain("", stages).parameters(NetworkLayer.COLOURS);
    }

    /** Returns the names of the computed layers, up to the last feature layer. */
    public List<String> layersUsed() {
        return names(cut.stages());
    }

    /** Returns the names of all layers of the network in order. */
    public List<String> layers() {
        return names(cut.network().stages());
    }

    /** Returns the default feature layer. */
    public String defaultLayer() {
        return cut.network().cuts().defaultLayer();
    }

    /** Returns the feature layer or layers ({@code a+b}) on which {@code --pooling auto} compares poolings. */
    public String selectionLayers() {
        return cut.network().cuts().selectionLayers();
    }

    /** Returns the feature layer or layers ({@code a+b}) that {@code --pooling auto} fine-tunes. */
    public String fineTunedLayers() {
        return cut.network().cuts().fineTunedLayers();
    }

    /** Returns title, citation, image size and origin of the weights. */
    public BackboneInfo about() {
        return cut.network().about();
    }

    /** Returns the preprocessing of the usual weights. */
    public Preprocessing preprocessing() {
        return about().preprocessing();
    }

    /** Returns the parameters up to the last feature layer. */
    public List<ParameterSpec> parameters() {
        return parameters(cut.stages());
    }

    /** Returns the number of feature channels c, summed over all feature layers. */
    public long channels() {
        return channelsOfLayers().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the number of channels of each feature layer, in the order of {@link #cutLayers}. */
    public List<Long> channelsOfLayers() {
        return cut.channels();
    }

    /** Returns the feature layers, one to four, in the network's order. */
    public List<String> cutLayers() {
        return cut.layers();
    }

    /** Returns the names of the parameters that only class scores need, independent of the feature layer. */
    public Set<String> classifier() {
        // Names do not depend on how many maps enter.
        return cut.network().classifier().stream()
                .flatMap(stage -> parameters(List.of(stage)).stream())
                .map(ParameterSpec::name)
                .collect(Collectors.toCollection(LinkedHashSet::new));
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
        Shape maps = Shape.of(NetworkLayer.COLOURS, height, width);
        for (NetworkLayer stage : cut.stages()) {
            maps = stage.output(maps);
            if (maps.elements() == 0) {
                throw new IllegalArgumentException("images of " + height + "×" + width + " do not fit " + this
                        + ": the input of layer " + stage.name() + " is too small or of the wrong size; " + smallest());
            }
        }
        return cut.features(height, width);
    }

    /** Estimates the number of elements that training keeps of one image, for each computed layer. */
    public List<Long> activations(int height, int width) {
        List<Long> each = new ArrayList<>();
        Shape maps = Shape.of(NetworkLayer.COLOURS, height, width);
        for (NetworkLayer stage : cut.stages()) {
            each.add(stage.activations(maps));
            maps = stage.output(maps);
        }
        return each;
    }

    /** Returns whether images of that size can be used. */
    public boolean fits(int height, int width) {
        return height > 0 && width > 0 && cut.features(height, width).elements() > 0;
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
        return run(images, parameters, null, _ -> {});
    }

    /**
     * Computes the features.
     *
     * @param layers receives the maps of each of {@link #cutLayers} in order, before they are resized; valid during the call
     */
    public Var apply(Var images, Bindings parameters, Consumer<Var> layers) {
        return run(images, parameters, null, layers);
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
            List<ParameterSpec> specs = cut.stages().stream()
                    .flatMap(NetworkLayer::convolutions)
                    .flatMap(conv -> conv.folded(bindings).entrySet().stream())
                    .map(entry -> {
                        Tensor value = entry.getValue().value();
                        return new ParameterSpec(entry.getKey(), value.shape(), Role.FITTED, (_, _, _) -> value.copy());
                    })
                    .toList();
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
        return run(images, parameters, listener, _ -> {});
    }

    /** Checks the images and computes the features; without a listener no maps are made of tokens for it. */
    private Var run(Var images, Bindings parameters, @Nullable BiConsumer<String, Var> listener, Consumer<Var> layers) {
        Shape shape = images.shape();
        if (shape.rank() != 4 || shape.at(1) != NetworkLayer.COLOURS || shape.at(0) == 0) {
            throw new IllegalArgumentException(
                    this + ": expected images [n, 3, height, width], found " + images.value());
        }
        features(Math.toIntExact(shape.at(2)), Math.toIntExact(shape.at(3)));
        List<Var> taken = new ArrayList<>();
        Tape tape = images.tape();
        int begun = tape.mark();
        int mark = begun;
        Var state = images;
        Shape maps = Shape.of(shape.at(1), shape.at(2), shape.at(3));
        for (NetworkLayer stage : listener == null ? computed : cut.stages()) {
            state = stage.apply(state, parameters);
            maps = stage.output(maps);
            if (listener != null) {
                listener.accept(stage.name(), stage.features(state, maps));
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
    private static Var stacked(List<Var> taken) {
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
