package org.gramian.backbone;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.Interpolation;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;

/**
 * What follows the cut of a network, up to the layer before its class scores: maps {@code [n, c, h, w]} to vectors {@code [n,
 * d]}.
 *
 * <p>{@code v_i = Σ_p t_i(p) / N} of the maps t that leave the last of these layers; where a network itself averages, or
 * ends in fully connected layers, there is one position and nothing is left to average. With the network's weights, the
 * features of a {@link Backbone} become what the whole network sees before it decides: of VGG-16 cut at {@code conv5_3}
 * pool5, fc6 and fc7 (Simonyan and Zisserman, ICLR 2015), of GoogLeNet cut at {@code inception_4e} pool4, inception_5a, 5b
 * and the mean. SqueezeNet's class scores are means of the maps of {@code conv10}, which therefore is the last layer of its
 * tail.
 *
 * <p>Fully connected layers fit maps of one size only: the {@code 14×14} that images of 224×224 leave at VGG's
 * {@code conv5_3}.
 *
 * <p>A network cut at several layers of different sizes gives the last layer's maps enlarged to the grid of the first. The tail
 * then undoes that exactly, see {@link Interpolation#undoResize}, so that its layers see what the network's own see.
 */
public final class Tail {
    /** Where the search for a size that fits ends. */
    private static final int LARGEST = 64;

    private final LayerSelection cut;
    private final Chain stages;
    private final boolean resized;

    /** @throws IllegalArgumentException if no layer but the class scores follows, or the network has none */
    Tail(LayerSelection cut) {
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
        this.cut = cut;
        this.stages = new Chain("tail", following.subList(0, following.size() - 1));
        this.resized = cut.resizes();
    }

    /** The name of the network, as {@code googlenet}. */
    public String network() {
        return cut.network().name();
    }

    /** The layer that it follows, as {@code inception_4e}. */
    public String layer() {
        return cut.layers().getLast();
    }

    /** The layer on whose grid maps enter, where that is not the one that it follows. */
    public Optional<String> grid() {
        return resized ? Optional.of(cut.layers().getFirst()) : Optional.empty();
    }

    /**
     * Returns the shape {@code [c, h, w]} in which maps reach the first of its layers.
     *
     * @param height of the maps that enter, on the grid of {@link #grid} if there is one
     * @param width of the maps that enter
     */
    public Shape entering(long height, long width) {
        return resized ? cut.lastFromFirst(height, width) : Shape.of(channels(), height, width);
    }

    /** What is computed, in order; the mean over positions that follows is no stage. */
    public List<NetworkLayer> stages() {
        return stages.stages();
    }

    /** Its own layers, in order. */
    public List<String> layers() {
        return stages.stages().stream().map(NetworkLayer::name).toList();
    }

    /** Number of maps that enter: as many as leave the layer before. */
    public long channels() {
        return cut.channels().getLast();
    }

    /** Length d of the vectors. */
    public long outputs() {
        return stages.channels(channels());
    }

    /** Its parameters, under the network's names. */
    public List<ParameterSpec> parameters() {
        return stages.parameters(channels());
    }

    /** Numbers in the maps that leave its layers, for maps of the given sides: what training holds in memory. */
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
     * Says no to maps of the wrong size.
     *
     * @throws IllegalArgumentException if maps of these sides do not fit; the message names one that does
     */
    public void requireFits(long height, long width) {
        if (!fits(height, width)) {
            int side = cut.network().about().size();
            Shape usual = cut.features(side, side);
            throw new IllegalArgumentException(this + ": feature maps of " + height + "×" + width + " do not fit; "
                    + IntStream.rangeClosed(1, LARGEST)
                            .filter(square -> fits(square, square))
                            .mapToObj(square -> "the smallest square that fits is " + square + "×" + square + ", ")
                            .findFirst()
                            .orElse("")
                    + "images of " + side + "×" + side + ", the network's native size, give " + usual.at(1)
                    + "×"
                    + usual.at(2) + " at " + grid().orElse(layer()));
        }
    }

    private boolean fits(long height, long width) {
        Shape entering = entering(height, width);
        return entering.elements() > 0 && stages.output(entering).elements() > 0;
    }

    /**
     * Vectors {@code [n, d]} of maps {@code [n, c, h, w]}.
     *
     * @throws IllegalArgumentException if the maps do not fit
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
        for (NetworkLayer stage : stages.stages()) {
            x = stage.apply(x, parameters);
            tape.keepOnly(x, mark);
        }
        Var mean = x.shape().at(2) * x.shape().at(3) == 1 ? x : FeatureMaps.globalAveragePool(x);
        Var vectors = Shapes.reshape(mean, shape.at(0), outputs());
        tape.keepOnly(vectors, mark);
        return vectors;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Tail tail
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
