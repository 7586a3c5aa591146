package org.gramian.backbone;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Interpolation;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.NetworkLayer.Chain;
import org.gramian.basis.NearestWord;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Shape;

/**
 * Convolutional network up to one or several feature layers: images {@code [n, 3, h, w]} to feature maps {@code [n, c,
 * h', w']}.
 *
 * <p>The features of a layer are its output after the activation: those of VGG's {@code conv5_3} are rectified. On a
 * tape, parameters bound to variables are trained and parameters bound to constants are frozen. Without gradients only
 * the maps of one layer are kept at a time.
 */
public final class Backbone {
    /** Last layer of every network with class scores: {@code [1000, 1, 1]} for ImageNet. */
    public static final String LOGITS = "logits";

    /** Upper bound of the search for the smallest image size. */
    private static final int LARGEST_MINIMUM = 512;

    private final Network network;
    private final LayerSelection cut;
    private final Chain stages;

    private Backbone(LayerSelection cut) {
        this.network = cut.network();
        this.cut = cut;
        this.stages = new Chain(cut.text(), cut.stages());
    }

    /**
     * Returns a network with its default feature layer.
     *
     * @param name name of the network, such as {@code vgg16}
     * @throws IllegalArgumentException if the name is unknown; the message lists all names
     */
    public static Backbone of(String name) {
        Network network = Backbones.network(name);
        return new Backbone(LayerSelection.of(network, network.cuts().defaultLayer()));
    }

    /**
     * Returns a network with the given feature layer or layers.
     *
     * <p>Maps of later layers are resized bilinearly to the height and width of the first, see {@link Interpolation},
     * and all are concatenated along channels in that order.
     *
     * @param name name of the network
     * @param layer one layer, or two to four as {@code a+b}
     * @throws IllegalArgumentException if a layer is unknown or the layers are not in the network's order
     */
    public static Backbone of(String name, String layer) {
        return new Backbone(LayerSelection.of(Backbones.network(name), layer));
    }

    /** Returns the same network with another feature layer or layers. */
    public Backbone cutAt(String layer) {
        return new Backbone(LayerSelection.of(network, layer));
    }

    /**
     * Returns the part of the network after the last feature layer, up to the layer before the class scores.
     *
     * @throws IllegalArgumentException if no layer follows
     */
    public Tail tail() {
        return new Tail(cut);
    }

    /** Returns the name of the network, such as {@code vgg16}. */
    public String name() {
        return network.name();
    }

    /** Returns the feature layer, such as {@code conv5_3}, or layers, such as {@code conv5_2+conv5_3}. */
    public String layer() {
        return stages.name();
    }

    /** Returns the computed layers in order, up to the last feature layer. */
    public List<NetworkLayer> stages() {
        return stages.stages();
    }

    /** Returns whether the output of a layer is part of the features. */
    public boolean takes(NetworkLayer stage) {
        return cut.takes(stage);
    }

    /** Returns the names of the computed layers, up to the last feature layer. */
    public List<String> layersUsed() {
        return stages.stages().stream().map(NetworkLayer::name).toList();
    }

    /** Returns the names of all layers of the network in order. */
    public List<String> layers() {
        return network.stages().stream().map(NetworkLayer::name).toList();
    }

    /** Returns the default feature layer. */
    public String defaultLayer() {
        return network.cuts().defaultLayer();
    }

    /** Returns the feature layer or layers ({@code a+b}) on which {@code --pooling auto} compares poolings. */
    public String raceLayers() {
        return network.cuts().raceLayers();
    }

    /** Returns the feature layer or layers ({@code a+b}) that {@code --pooling auto} fine-tunes. */
    public String fineTunedLayers() {
        return network.cuts().fineTunedLayers();
    }

    /** Returns title, citation, image size and origin of the weights. */
    public BackboneInfo about() {
        return network.about();
    }

    /** Returns the preprocessing of the usual weights. */
    public Preprocessing preprocessing() {
        return network.about().preprocessing();
    }

    /** Returns the parameters up to the last feature layer. */
    public List<ParameterSpec> parameters() {
        return stages.parameters(Network.COLOURS);
    }

    /** Returns the names of the trainable parameters of each layer that has some, in the order of the network. */
    public List<Set<String>> parameterNames() {
        List<Set<String>> names = new ArrayList<>();
        for (NetworkLayer stage : stages.stages()) {
            Set<String> own = new LinkedHashSet<>();
            // Names do not depend on how many maps enter.
            stage.parameters(Network.COLOURS).stream()
                    .filter(spec -> spec.role() != Role.FITTED)
                    .forEach(spec -> own.add(spec.name()));
            if (!own.isEmpty()) {
                names.add(own);
            }
        }
        return names;
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
        Set<String> names = new LinkedHashSet<>();
        for (NetworkLayer stage : network.classifier()) {
            // Names do not depend on how many maps enter.
            stage.parameters(Network.COLOURS).forEach(spec -> names.add(spec.name()));
        }
        return names;
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
     * @param height rows of the image
     * @param width columns of the image
     * @throws IllegalArgumentException if the image is too small
     */
    public Shape features(int height, int width) {
        if (height < 1 || width < 1) {
            throw new IllegalArgumentException("expected images of at least 1×1, found " + height + "×" + width);
        }
        Shape maps = Shape.of(Network.COLOURS, height, width);
        for (NetworkLayer stage : stages.stages()) {
            maps = stage.output(maps);
            if (maps.elements() == 0) {
                throw new IllegalArgumentException("images of " + height + "×" + width + " do not fit " + this
                        + ": the input of layer " + stage.name() + " is too small or of the wrong size; "
                        + smallest());
            }
        }
        return cut.features(height, width);
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
        return trace(images, parameters, (layer, maps) -> {});
    }

    /**
     * Computes the features and reports the output of every layer.
     *
     * @param listener called with the name and the output of each layer as soon as it is computed; on an inference tape
     *     the output is valid only during the call
     */
    public Var trace(Var images, Bindings parameters, BiConsumer<String, Var> listener) {
        Shape shape = images.shape();
        if (shape.rank() != 4 || shape.at(1) != Network.COLOURS || shape.at(0) == 0) {
            throw new IllegalArgumentException(
                    this + ": expected images [n, 3, height, width], found " + images.value());
        }
        features(Math.toIntExact(shape.at(2)), Math.toIntExact(shape.at(3)));
        return run(stages.stages(), images, new ArrayList<>(), parameters, listener);
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
        List<NetworkLayer> all = stages.stages();
        int next = whole.indexOf(layer) + 1;
        List<Var> taken = new ArrayList<>();
        if (cut.takes(all.get(next - 1))) {
            taken.add(maps);
        }
        return run(all.subList(next, all.size()), maps, taken, parameters, (_, _) -> {});
    }

    /** Returns the layers whose output alone determines the features: those up to the first feature layer. */
    public List<String> wholeLayers() {
        List<String> used = layersUsed();
        return used.subList(0, used.indexOf(cut.layers().getFirst()) + 1);
    }

    private Var run(
            List<NetworkLayer> parts,
            Var start,
            List<Var> taken,
            Bindings parameters,
            BiConsumer<String, Var> listener) {
        Tape tape = start.tape();
        int begun = tape.mark();
        int mark = begun;
        Var maps = start;
        for (NetworkLayer stage : parts) {
            maps = stage.apply(maps, parameters);
            listener.accept(stage.name(), maps);
            tape.keepOnly(maps, mark);
            if (cut.takes(stage)) {
                taken.add(maps);
                mark = tape.mark(); // values before the mark are kept
            }
        }
        Var features = taken.size() == 1 ? maps : stacked(taken);
        tape.keepOnly(features, begun);
        return features;
    }

    /** Resizes the maps of several layers to the size of the first and concatenates them along channels. */
    private static Var stacked(List<Var> taken) {
        Shape grid = taken.getFirst().shape();
        return Shapes.concat(
                taken.stream()
                        .map(maps -> Interpolation.resize(maps, grid.at(2), grid.at(3)))
                        .toList(),
                1);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Backbone backbone && name().equals(backbone.name()) && layer().equals(backbone.layer());
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
