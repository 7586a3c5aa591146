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
import org.gramian.basis.NearestWord;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Shape;

/**
 * A convolutional network cut at a named layer, or at two to four: images {@code [n, 3, h, w]} to feature maps {@code [n, c,
 * h', w']}.
 *
 * <p>The features of a layer are what leaves it, after its activation: those of VGG's {@code conv5_3} are rectified. It
 * can be applied on any tape: what is bound to variables that want gradients is trained, what is bound to constants is
 * frozen, and where nothing wants a gradient only one layer's maps are held at a time.
 */
public final class Backbone {
    /** The last layer of each network that has class scores: {@code [1000, 1, 1]} for ImageNet's classes. */
    public static final String LOGITS = "logits";

    /** Where the search for a size that fits ends. */
    private static final int LARGEST_MINIMUM = 512;

    private final Network network;
    private final Cut cut;
    private final Chain stages;

    private Backbone(Cut cut) {
        this.network = cut.network();
        this.cut = cut;
        this.stages = new Chain(cut.text(), cut.stages());
    }

    /**
     * A network cut at its default layer.
     *
     * @throws IllegalArgumentException if there is none of that name; the message lists those that there are
     */
    public static Backbone of(String name) {
        Network network = Backbones.network(name);
        return new Backbone(Cut.of(network, network.cuts().defaultLayer()));
    }

    /**
     * Returns a network cut at a layer, or at two to four as {@code a+b}: maps of later layers are resized bilinearly to the
     * height and width of the first one's, see {@link Interpolation}, and all are stacked along channels in that order.
     *
     * @throws IllegalArgumentException if it has no such layer, or layers are not in the network's order
     */
    public static Backbone of(String name, String layer) {
        return new Backbone(Cut.of(Backbones.network(name), layer));
    }

    /** The same network cut at another layer, or at several. */
    public Backbone cutAt(String layer) {
        return new Backbone(Cut.of(network, layer));
    }

    /**
     * What of the network follows the layer, up to the one before the class scores; after the last of several layers.
     *
     * @throws IllegalArgumentException if nothing does
     */
    public Tail tail() {
        return new Tail(cut);
    }

    /** The name of the network, as {@code vgg16}. */
    public String name() {
        return network.name();
    }

    /** The layer whose output the features are, as {@code conv5_3}, or several as {@code conv5_2+conv5_3}. */
    public String layer() {
        return stages.name();
    }

    /** What is computed, in order, up to that layer or the last of several. */
    public List<Stage> stages() {
        return stages.stages();
    }

    /** Whether the maps that leave a stage are among the features. */
    public boolean takes(Stage stage) {
        return cut.takes(stage);
    }

    /** The layers that are computed, up to that one or the last of several. */
    public List<String> layersUsed() {
        return stages.stages().stream().map(Stage::name).toList();
    }

    /** All layers at which the network can be cut, in order. */
    public List<String> layers() {
        return network.stages().stream().map(Stage::name).toList();
    }

    /** The layer at which the network is cut unless told otherwise. */
    public String defaultLayer() {
        return network.cuts().defaultLayer();
    }

    /** The layers on which poolings are compared for {@code --pooling auto}: one, or several as {@code a+b}. */
    public String raceLayers() {
        return network.cuts().raceLayers();
    }

    /** The layers of the network that is fine-tuned by {@code --pooling auto}: one, or several as {@code a+b}. */
    public String fineTunedLayers() {
        return network.cuts().fineTunedLayers();
    }

    /** Title, citation, size of images, origin of weights. */
    public BackboneInfo about() {
        return network.about();
    }

    /** What the usual weights expect of images. */
    public Preprocessing preprocessing() {
        return network.about().preprocessing();
    }

    /** The parameters up to the layer. */
    public List<ParameterSpec> parameters() {
        return stages.parameters(Network.COLOURS);
    }

    /** Returns the names of the trainable parameters of each stage that has some, from the image to the cut. */
    public List<Set<String>> parameterNames() {
        List<Set<String>> names = new ArrayList<>();
        for (Stage stage : stages.stages()) {
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

    /** Number of maps that leave the layer, whatever the size of the images; of several layers all. */
    public long channels() {
        return channelsOfLayers().stream().mapToLong(Long::longValue).sum();
    }

    /** Number of maps that leave each layer at which it is cut, in the order of {@link #cutLayers}. */
    public List<Long> channelsOfLayers() {
        return cut.channels();
    }

    /** The layers at which it is cut, one to four, in the network's order. */
    public List<String> cutLayers() {
        return cut.layers();
    }

    /** The names of the network's parameters that only class scores need, wherever it is cut. */
    public Set<String> classifier() {
        Set<String> names = new LinkedHashSet<>();
        for (Stage stage : network.classifier()) {
            // Names do not depend on how many maps enter.
            stage.parameters(Network.COLOURS).forEach(spec -> names.add(spec.name()));
        }
        return names;
    }

    /** Number of trainable numbers up to the layer: statistics of batch norms and fixed filters are not counted. */
    public long parameterCount() {
        return parameters().stream()
                .filter(spec -> spec.role() != Role.FITTED)
                .mapToLong(spec -> spec.shape().elements())
                .sum();
    }

    /**
     * The shape {@code [c, h', w']} of the features of one image.
     *
     * @throws IllegalArgumentException if images of that size do not fit
     */
    public Shape features(int height, int width) {
        if (height < 1 || width < 1) {
            throw new IllegalArgumentException("expected images of at least 1×1, found " + height + "×" + width);
        }
        Shape maps = Shape.of(Network.COLOURS, height, width);
        for (Stage stage : stages.stages()) {
            maps = stage.output(maps);
            if (maps.elements() == 0) {
                throw new IllegalArgumentException("images of " + height + "×" + width + " do not fit " + this
                        + ": the input of layer " + stage.name() + " is too small or of the wrong size; "
                        + smallest());
            }
        }
        return cut.features(height, width);
    }

    /** Whether images of that size can be used. */
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

    /** Features of preprocessed images. */
    public Var apply(Var images, Bindings parameters) {
        return trace(images, parameters, (layer, maps) -> {});
    }

    /**
     * The same, with a listener that is told what leaves every layer as soon as it is computed; on a tape that does not
     * record, the maps are gone after the call.
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
     * Features of maps that left an earlier layer, or of the features themselves, which stay as they are: the second part of a
     * network whose first part was computed before, for what happens between that layer and the cut.
     *
     * @param layer one that is computed on the way to the cut; where it is cut at several, not later than the first of them
     * @param maps what left that layer
     * @throws IllegalArgumentException if the features need more than that layer's maps; the message says which layers do
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
        List<Stage> all = stages.stages();
        int next = whole.indexOf(layer) + 1;
        List<Var> taken = new ArrayList<>();
        if (cut.takes(all.get(next - 1))) {
            taken.add(maps);
        }
        return run(all.subList(next, all.size()), maps, taken, parameters, (_, _) -> {});
    }

    /** The layers from whose maps alone the features follow: those up to the cut, or to the first of several. */
    public List<String> wholeLayers() {
        List<String> used = layersUsed();
        return used.subList(0, used.indexOf(cut.layers().getFirst()) + 1);
    }

    private Var run(
            List<Stage> parts, Var start, List<Var> taken, Bindings parameters, BiConsumer<String, Var> listener) {
        Tape tape = start.tape();
        int begun = tape.mark();
        int mark = begun;
        Var maps = start;
        for (Stage stage : parts) {
            maps = stage.apply(maps, parameters);
            listener.accept(stage.name(), maps);
            tape.keepOnly(maps, mark);
            if (cut.takes(stage)) {
                taken.add(maps);
                mark = tape.mark(); // what lies before it stays
            }
        }
        Var features = taken.size() == 1 ? maps : stacked(taken);
        tape.keepOnly(features, begun);
        return features;
    }

    /** Maps of several layers on the grid of the first, along channels. */
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

    /** Network and layer, as {@code vgg16:conv5_3}. */
    @Override
    public String toString() {
        return name() + ":" + layer();
    }
}
