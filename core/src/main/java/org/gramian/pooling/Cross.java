package org.gramian.pooling;

import java.util.List;
import java.util.OptionalInt;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.basis.NamedArguments;
import org.gramian.pooling.PoolingStage.Context;

/**
 * Cross-convolutional-layer pooling, {@code v = vec(A Bᵀ / N)} of the maps {@code A [n, a, N]} of one layer and {@code
 * B [n, b, N]} of a later one.
 *
 * <p>The input is both layers concatenated, {@code [n, a + b, N]}, the features of a {@link Backbone} cut at {@code
 * a+b}. The text {@code cross} leaves a open until the backbone is known; then it is {@code cross:528}. Reference: Liu,
 * Shen, van den Hengel, "The Treasure beneath Convolutional Layers: Cross-convolutional-layer Pooling for Image
 * Classification", CVPR 2015: {@code P_k = Σ_p a_k(p) x(p)} is row k of A Bᵀ; the factor 1/N makes it independent of
 * the image size.
 *
 * @param first number of channels a of the first layer; empty while the backbone is unknown
 */
public record Cross(OptionalInt first) implements Aggregation {
    static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
            "cross",
            "cross[:<channels of the first layer>]",
            "feature maps of one layer weighted by those of another",
            Cross::read);

    public Cross {
        if (first.isPresent() && first.getAsInt() < 1) {
            throw new IllegalArgumentException(
                    "cross: expected at least 1 channel of the first layer, found " + first.getAsInt());
        }
    }

    private static Cross read(NamedArguments arguments) {
        String text = arguments.text("first", "");
        return text.isEmpty() ? new Cross(OptionalInt.empty()) : new Cross(OptionalInt.of(arguments.count("first")));
    }

    @Override
    public String text() {
        return first.isPresent() ? "cross:" + first.getAsInt() : "cross";
    }

    private int known() {
        return first.orElseThrow(() -> new IllegalArgumentException("cross needs a backbone with two"
                + " layers; without one, give the number of channels of the first layer, e.g. cross:528"));
    }

    @Override
    public long outputs(long channels) {
        long a = known();
        if (a >= channels) {
            throw new IllegalArgumentException("cross: expected channels of two layers, " + a
                    + " of the first and at least 1 of the second, found " + channels + " in total; write the layer as"
                    + " a+b, e.g. --layer inception_4d+inception_4e");
        }
        return a * (channels - a);
    }

    /**
     * @throws IllegalArgumentException if the backbone is cut at one layer, or its channels were mixed before, so that
     *     the end of the first layer is unknown; or if the given number is not that of the first layer
     */
    @Override
    public Cross resolve(Context place) {
        if (place.backbone().isEmpty()) {
            return this;
        }
        Backbone backbone = place.backbone().get();
        List<Long> channels = backbone.channelsOfLayers();
        if (first.isPresent()) {
            if (!place.mixed() && channels.size() > 1 && channels.getFirst() != first.getAsInt()) {
                throw new IllegalArgumentException(text() + ": the first layer of " + backbone + " has "
                        + channels.getFirst() + " channels, found " + first.getAsInt()
                        + "; write cross without a number to use those of the layers");
            }
            return this;
        }
        if (place.mixed()) {
            throw new IllegalArgumentException("cross: a reduction mixes the channels of both layers, so cross"
                    + " cannot separate them; put cross first, or give the number, e.g. cross:256");
        }
        if (channels.size() < 2) {
            throw new IllegalArgumentException("cross: expected features of two layers, found " + backbone
                    + " with one layer; write the layer as a+b"
                    + example(backbone));
        }
        return new Cross(OptionalInt.of(Math.toIntExact(channels.getFirst())));
    }

    /** Suggests the feature layer with the layer before it. */
    private static String example(Backbone backbone) {
        List<String> used = backbone.layersUsed();
        if (used.size() < 2) {
            return "";
        }
        return ", e.g. --layer " + used.get(used.size() - 2) + "+" + used.getLast();
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        long images = maps.shape().at(0);
        long channels = maps.shape().at(1);
        long size = outputs(channels);
        Var a = maps.slice(1, 0, known());
        Var b = maps.slice(1, known(), channels);
        Var products = a.matmul(b.transpose(1, 2));
        Var means = products.mul(1.0 / maps.shape().at(2));
        return means.reshape(images, size);
    }
}
