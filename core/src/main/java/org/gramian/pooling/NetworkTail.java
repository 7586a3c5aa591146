package org.gramian.pooling;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.Backbones;
import org.gramian.backbone.ClassifierTail;
import org.gramian.basis.NamedArguments;
import org.gramian.pooling.PoolingStage.Context;
import org.gramian.pooling.Reduction.LayerChannels;
import org.gramian.tensor.Shape;

/**
 * The layers of the backbone's network after the feature layer, up to the one before the class scores: feature maps
 * {@code [n, c, h, w]} to {@code [n, d]}, see {@link ClassifierTail}. For VGG-16 these are the paper's rows "VGG-16" (Simonyan
 * and Zisserman, ICLR 2015), d = 4096; for GoogLeNet d = 1024.
 *
 * <p>The text {@code tail} leaves the network open until the backbone is known; then it is {@code
 * tail:network=googlenet,layer=inception_4e}, with colons for slashes in layer names. For a backbone with several
 * feature layers it follows the last one, which {@code layer:} selects before it; {@code grid=} names the first one if
 * its maps have another size. Parameters are {@code tail.NAME} under the network's names: initialized from its weights,
 * frozen with the backbone and trained at its learning rate.
 *
 * @param tail the layers; empty while the network is unknown
 * @since 0.1
 */
@SuppressWarnings("exports") // for the engines and the training
public record NetworkTail(Optional<ClassifierTail> tail) implements Aggregation {
    static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
            "tail",
            "tail[:network=<name>,layer=<name>[,grid=<name>]]",
            "the remaining layers of the network",
            NetworkTail::read);

    /** Creates the tail of a network that is not known yet. */
    public NetworkTail() {
        this(Optional.empty());
    }

    private static NetworkTail read(NamedArguments arguments) {
        String network = arguments.text("network", "");
        String layer = LayerChannels.name(arguments.text("layer", ""));
        String grid = LayerChannels.name(arguments.text("grid", ""));
        if (network.isEmpty() && layer.isEmpty() && grid.isEmpty()) {
            return new NetworkTail();
        }
        if (network.isEmpty() || layer.isEmpty()) {
            throw new IllegalArgumentException(
                    "expected both network and layer, or neither: without them, tail uses the"
                            + " backbone's own layers");
        }
        return new NetworkTail(Optional.of(Backbone.of(network, grid.isEmpty() ? layer : grid + "+" + layer)
                .tail()));
    }

    @Override
    public String text() {
        // a network that is not built in is defined by the backbone of the model
        return tail.filter(known -> Backbones.names().contains(known.network()))
                .map(known -> "tail:network=" + known.network() + ",layer="
                        + LayerChannels.word(known.layer())
                        + known.grid()
                                .map(grid -> ",grid=" + LayerChannels.word(grid))
                                .orElse(""))
                .orElse("tail");
    }

    @Override
    public boolean isSpatial() {
        return true;
    }

    private ClassifierTail known() {
        return tail.orElseThrow(() -> new IllegalArgumentException("tail needs a backbone; without one,"
                + " name the network, e.g. tail:network=googlenet,layer=inception_4e"));
    }

    @Override
    public long outputs(long channels) {
        ClassifierTail known = known();
        if (channels != known.channels()) {
            throw new IllegalArgumentException("tail: " + known + " expects " + known.channels() + " channels, found "
                    + channels + "; put conv:" + known.channels()
                    + " before it, remove stages that change the number of channels, or use layer:"
                    + LayerChannels.word(known.layer()) + " on a backbone with several layers");
        }
        return known.outputs();
    }

    @Override
    public void requireFits(Shape maps) {
        known().requireFits(maps.at(1), maps.at(2));
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return known().parameters();
    }

    @Override
    public Map<String, String> pretrained() {
        Map<String, String> names = new LinkedHashMap<>();
        tail.ifPresent(known -> known.parameters().forEach(spec -> names.put(spec.name(), spec.name())));
        return names;
    }

    /** @throws IllegalArgumentException if the tail belongs to another network or feature layer than the backbone */
    @Override
    public NetworkTail resolve(Context place) {
        if (place.backbone().isEmpty()) {
            return this;
        }
        Backbone backbone = place.backbone().get();
        ClassifierTail own = backbone.tail();
        if (tail.isPresent() && !tail.get().equals(own)) {
            throw new IllegalArgumentException("tail: expected " + own + ", which follows the backbone " + backbone
                    + ", found " + tail.get() + "; write tail without arguments for the backbone's own layers");
        }
        return new NetworkTail(Optional.of(own));
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        return known().apply(maps, parameters);
    }
}
