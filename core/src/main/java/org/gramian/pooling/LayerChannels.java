package org.gramian.pooling;

import java.util.List;
import java.util.Optional;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.basis.NearestWord;

/**
 * Selects the channels of one layer of a {@link Backbone} that is cut at several: maps {@code [n, c, N]} become {@code [n, to −
 * from, N]}, the channels {@code from} (included) to {@code to} (excluded), unchanged.
 *
 * <p>The text {@code layer:block29} leaves the range open until the pooling stands on a backbone cut at that layer; then it is
 * {@code layer:block29,from=160,to=608}. A slash in a layer's name is written as a colon.
 *
 * @param layer name of the layer
 * @param range its channels; empty while no backbone is known
 */
public record LayerChannels(String layer, Optional<Range> range) implements Reduction {
    static final Words.Rule RULE = new Words.Rule(
            "layer",
            "layer:<name>[,from=<channel>,to=<channel>]",
            "channels of one layer of a backbone with several layers",
            LayerChannels::read);

    /**
     * A range of channels.
     *
     * @param from first channel, from 0
     * @param to channel behind the last
     */
    public record Range(int from, int to) {
        public Range {
            if (from < 0 || to <= from) {
                throw new IllegalArgumentException(
                        "layer: expected channels from 0 on and at least one of them, found from=" + from + ",to="
                                + to);
            }
        }
    }

    public LayerChannels {
        if (layer.isBlank()) {
            throw new IllegalArgumentException("layer: expected the name of a layer, e.g. layer:block29, found none");
        }
    }

    /** Of a backbone that is not known yet. */
    public LayerChannels(String layer) {
        this(layer, Optional.empty());
    }

    private static LayerChannels read(WordArguments arguments) {
        String layer = name(arguments.text("name", ""));
        String from = arguments.text("from", "");
        String to = arguments.text("to", "");
        if (from.isEmpty() != to.isEmpty()) {
            throw new IllegalArgumentException("expected both from= and to=, or neither, found one");
        }
        if (from.isEmpty()) {
            return new LayerChannels(layer);
        }
        int first = from.equals("0") ? 0 : arguments.count("from");
        return new LayerChannels(layer, Optional.of(new Range(first, arguments.count("to"))));
    }

    /** The name of a layer from its form in a pooling's text, where a slash separates stages. */
    static String name(String word) {
        return word.replace(':', '/');
    }

    /** The form of a layer's name in a pooling's text. */
    static String word(String layer) {
        return layer.replace('/', ':');
    }

    @Override
    public String text() {
        return "layer:" + word(layer)
                + range.map(known -> ",from=" + known.from() + ",to=" + known.to())
                        .orElse("");
    }

    private Range known() {
        return range.orElseThrow(() -> new IllegalArgumentException(
                text() + " needs a backbone; without one, give the channels, e.g. " + text() + ",from=160,to=608"));
    }

    @Override
    public long outputs(long entering) {
        Range known = known();
        if (known.to() > entering) {
            throw new IllegalArgumentException(
                    text() + ": expected at least " + known.to() + " channels, found " + entering);
        }
        return (long) known.to() - known.from();
    }

    /** @throws IllegalArgumentException if the backbone is not cut at the layer, or channels were mixed before */
    @Override
    public LayerChannels settled(PoolingContext place) {
        if (place.backbone().isEmpty()) {
            return this;
        }
        Backbone backbone = place.backbone().get();
        if (place.mixed()) {
            throw new IllegalArgumentException(
                    text() + ": expected the backbone's own channels, found those of a reduction before it; put layer:"
                            + word(layer) + " first");
        }
        List<String> layers = backbone.cutLayers();
        int index = layers.indexOf(layer);
        if (index < 0) {
            throw new IllegalArgumentException(text() + ": expected a layer of " + backbone + ", one of "
                    + String.join(", ", layers) + ", found '" + layer + "'" + NearestWord.suggestion(layer, layers)
                    + "; add it to the layers, e.g. --layer " + layers.getFirst() + "+" + layer);
        }
        List<Long> channels = backbone.channelsOfLayers();
        int from = Math.toIntExact(
                channels.subList(0, index).stream().mapToLong(Long::longValue).sum());
        Range own = new Range(from, Math.toIntExact(from + channels.get(index)));
        if (range.isPresent() && !range.get().equals(own)) {
            throw new IllegalArgumentException(text() + ": the channels of " + layer + " of " + backbone + " are from="
                    + own.from() + ",to=" + own.to() + "; write layer:" + word(layer) + " for these");
        }
        return new LayerChannels(layer, Optional.of(own));
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Range known = known();
        outputs(maps.shape().at(1));
        return Shapes.slice(maps, 1, known.from(), known.to());
    }
}
