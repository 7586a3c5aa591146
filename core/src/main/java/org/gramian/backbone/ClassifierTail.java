package org.gramian.backbone;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.NetworkLayer.Chain;
import org.gramian.backbone.network.NetworkLayer.Rewriting;
import org.gramian.tensor.Shape;

/**
 * Part of a network after the feature layer, up to the layer before its class scores: feature maps {@code [n, c, h, w]}
 * to vectors {@code [n, d]}.
 *
 * <p>{@code v_i = Σ_p t_i(p) / N} over the maps t of the last of these layers; networks that average themselves or end
 * in fully connected layers have one position. Examples: pool5, fc6 and fc7 of VGG-16 after {@code conv5_3} (Simonyan
 * and Zisserman, ICLR 2015); pool4, inception_5a, 5b and the mean of GoogLeNet after {@code inception_4e}. SqueezeNet's
 * class scores are means of the maps of {@code conv10}, which therefore is the last layer of its tail.
 *
 * <p>Fully connected layers fit maps of one size only: the {@code 14×14} of VGG's {@code conv5_3} for images of
 * 224×224.
 *
 * <p>With several feature layers of different sizes, the last layer's maps arrive resized to the first one's size. The
 * tail undoes that exactly, by the inverse of the interpolation.
 */
public final class ClassifierTail {
    private final LayerSelection cut;
    private final Chain stages;
    private final boolean resized;
    private final List<NetworkLayer> computed;

    /**
     * Creates the tail of a network.
     *
     * @throws IllegalArgumentException if only the class scores follow, the network has none, or the layers that
     *     follow need more than the feature maps
     */
    ClassifierTail(LayerSelection cut) {
        this(cut, (layers, _) -> layers);
    }

    private ClassifierTail(LayerSelection cut, Rewriting rewriting) {
        List<NetworkLayer> following = cut.following();
        boolean scored = !following.isEmpty() && following.getLast().name().equals(Backbone.LOGITS);
        if (!scored || following.size() == 1) {
            throw new IllegalArgumentException("nothing of " + cut.network().name() + " follows the layer " + cut.text()
                    + (scored ? " except the class scores" : "") + ", so it has no tail there; "
                    + (cut.network().classifier().isEmpty()
                            ? "this network has no class scores: choose another backbone"
                            : "use an earlier layer, e.g. "
                                    + cut.network().cuts().defaultLayer()));
        }
        if (!cut.stages().getLast().passesMaps()) {
            throw new IllegalArgumentException("the layers of " + cut.network().name() + " after " + cut.text()
                    + " need more than its feature maps, such as the class token, so it has no tail there");
        }
        this.cut = cut;
        this.stages = new Chain("tail", following.subList(0, following.size() - 1));
        this.resized = cut.resizes();
        this.computed = rewriting.apply(stages.stages(), _ -> false);
    }

    /**
     * Returns this tail with other layers computed by {@link #apply}.
     *
     * @param replacement replaces layers by others with the same parameters and results; these types are internal to Gramian
     */
    @SuppressWarnings("exports")
    public ClassifierTail rewritten(Rewriting replacement) {
        return new ClassifierTail(cut, replacement);
    }

    /** Returns the name of the network, such as {@code googlenet}. */
    public String network() {
        return cut.network().name();
    }

    /** Returns the layer before the tail, such as {@code inception_4e}. */
    public String layer() {
        return cut.layers().getLast();
    }

    /** Returns the layer whose size the input has, if it is not {@link #layer}. */
    public Optional<String> grid() {
        return resized ? Optional.of(cut.layers().getFirst()) : Optional.empty();
    }

    /**
     * Returns the shape {@code [c, h, w]} of the maps at the first layer of the tail.
     *
     * @param height rows of the input, at the size of {@link #grid} if present
     * @param width columns of the input
     */
    public Shape entering(long height, long width) {
        return resized ? cut.lastFromFirst(height, width) : Shape.of(channels(), height, width);
    }

    /**
     * Returns the layers of a type in order, without the final mean over positions.
     *
     * @param type type of layer; these types are internal to Gramian
     */
    public <T> List<T> stages(Class<T> type) {
        return stages.stages().stream().filter(type::isInstance).map(type::cast).toList();
    }

    /** Returns the names of the layers in order. */
    public List<String> layers() {
        return stages.stages().stream().map(NetworkLayer::name).toList();
    }

    /** Returns the number of input channels. */
    public long channels() {
        return cut.channels().getLast();
    }

    /** Returns the length d of the vectors. */
    public long outputs() {
        return stages.channels(channels());
    }

    /** Returns the parameters under the network's names. */
    public List<ParameterSpec> parameters() {
        return stages.parameters(channels());
    }

    /** Returns the number of activations for an input of the given size, which training keeps in memory. */
    public long mapElements(long height, long width) {
        long all = 0;
        Shape maps = entering(height, width);
        for (NetworkLayer stage : stages.stages()) {
            maps = stage.output(maps);
            all += maps.elements();
        }
        return all;
    }

    /**
     * Checks the size of the input.
     *
     * @throws IllegalArgumentException if the size is not supported; the message names one that is
     */
    public void requireFits(long height, long width) {
        Shape entering = entering(height, width);
        if (entering.elements() == 0 || stages.output(entering).elements() == 0) {
            int side = cut.network().about().size();
            Shape usual = cut.features(side, side);
            throw new IllegalArgumentException(this + ": feature maps of " + height + "×" + width + " do not fit; "
                    + "images of " + side + "×" + side + ", the network's native size, give " + usual.at(1) + "×"
                    + usual.at(2) + " at " + grid().orElse(layer()));
        }
    }

    /**
     * Applies the tail.
     *
     * @param parameters variables under the network's names
     * @return {@code [n, d]}
     * @throws IllegalArgumentException if the size of the maps is not supported
     */
    public Var apply(Var maps, Bindings parameters) {
        Shape shape = maps.shape();
        if (shape.rank() != 4 || shape.at(1) != channels()) {
            throw new IllegalArgumentException(
                    this + ": expected feature maps [n, " + channels() + ", height, width], found " + maps.value());
        }
        requireFits(shape.at(2), shape.at(3));
        Tape tape = maps.tape();
        int mark = tape.mark();
        Shape entering = entering(shape.at(2), shape.at(3));
        Var x = resized ? Interpolation.undoResize(maps, entering.at(1), entering.at(2)) : maps;
        for (NetworkLayer stage : computed) {
            x = stage.apply(x, parameters);
            tape.keepOnly(x, mark);
        }
        x = stages.features(x, stages.output(entering));
        Var mean = x.shape().at(2) * x.shape().at(3) == 1 ? x : FeatureMaps.globalAveragePool(x);
        Var vectors = mean.reshape(shape.at(0), outputs());
        tape.keepOnly(vectors, mark);
        return vectors;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ClassifierTail tail
                && network().equals(tail.network())
                && layer().equals(tail.layer())
                && grid().equals(tail.grid());
    }

    @Override
    public int hashCode() {
        return 31 * network().hashCode() + layer().hashCode();
    }

    /** What it is, as {@code the tail of googlenet after inception_4e: pool4/3x3_s2, inception_5a, inception_5b, pool5}. */
    @Override
    public String toString() {
        return "the tail of " + network() + " after " + layer()
                + grid().map(first -> " on the grid of " + first).orElse("") + ": "
                + layers().stream().collect(Collectors.joining(", "));
    }
}
