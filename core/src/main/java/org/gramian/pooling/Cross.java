package org.gramian.pooling;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.basis.NamedArguments;
import org.gramian.pooling.PoolingStage.Context;
import org.gramian.pooling.Transform.Free;
import org.gramian.tensor.Shape;

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
 * @since 0.1
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

    /**
     * Multi-headed global cross-covariance pooling of second-order transformers, SoT (Xie, Zeng, Wang, Zhou, Li, "SoT:
     * Delving Deeper into Classification Head for Transformer", arXiv 2104.10935, 2021).
     *
     * <p>A head has two learned projections of the centred maps M̄ {@code [n, C, N]}, {@code A = W_a M̄} and {@code B = W_b
     * M̄} with r rows each, and their cross-covariance {@code X = A Bᵀ/N [n, r, r]} with singular values normalized by the
     * power ½ (svPN). Parameters: {@code weight [2·heads·r, C]} and {@code start [r, 1]}. The descriptor is all heads one
     * after another, {@code [n, heads·r²]}.
     *
     * <p>svPN is approximated as published, with one singular value σ₁ by power iterations {@code u = Xs/‖Xs‖, s ← Xᵀu}
     * from the learned vector {@code start}, σ₁ = ‖s‖: the published {@code √σ₁·uvᵀ + (X − σ₁uvᵀ)/√σ₁} is {@code X/√σ₁}.
     * M̄ has mean 0 in each map; the released code subtracts one number from all entries of a projection instead.
     *
     * @param heads number of heads, 6 in the paper
     * @param size r, 14 to 38 in the paper
     * @param iterations number of power iterations, 1 in the paper
     */
    public record CrossCovariance(int heads, int size, int iterations) implements Aggregation {
        private static final int DEFAULT_HEADS = 6;
        private static final int DEFAULT_SIZE = 24;

        /** Added to σ₁², which is 0 for a blank image. */
        public static final double SMALLEST_SQUARE = 1e-12;

        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "sot",
                "sot[:heads=6,size=24,iterations=1]",
                "cross-covariances of learned projections over sqrt of the spectral norm",
                a -> new CrossCovariance(
                        a.count("heads", DEFAULT_HEADS), a.count("size", DEFAULT_SIZE), a.count("iterations", 1)));

        @Override
        public String text() {
            return "sot:" + heads + ",size=" + size + (iterations == 1 ? "" : ",iterations=" + iterations);
        }

        @Override
        public long outputs(long channels) {
            return (long) heads * size * size;
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            return List.of(
                    new ParameterSpec(
                            "weight", Shape.of(2L * heads * size, channels), Role.WEIGHT, Free.unitVariance(channels)),
                    new ParameterSpec("start", Shape.of(size, 1), Role.BIAS, Initializer.gaussian(1)));
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            long images = maps.shape().at(0);
            long positions = maps.shape().at(2);
            long half = (long) heads * size;
            Var centred = maps.sub(maps.sum(2).mul(1.0 / positions));
            Var projected = parameters.get("weight").matmul(centred);
            Var a = projected.slice(1, 0, half).reshape(images * heads, size, positions);
            Var b = projected.slice(1, half, 2 * half).reshape(images * heads, size, positions);
            Var x = a.matmul(b.transpose(1, 2)).mul(1.0 / positions);
            Var norm = spectralNorm(x, parameters.get("start"));
            return x.div(norm.sqrt()).reshape(images, half * size);
        }

        /** Approximates the largest singular values: x {@code [m, r, r]} and start {@code [r, 1]}; returns {@code [m, 1, 1]}. */
        private Var spectralNorm(Var x, Var start) {
            Normalization length = new Normalization.L2();
            Bindings none = Bindings.of(Map.of());
            long count = x.shape().at(0);
            Var s = start;
            for (int i = 0; i < iterations; i++) {
                Var product = x.matmul(s).reshape(count, size);
                Var u = length.apply(product, none).reshape(count, size, 1);
                s = x.transpose(1, 2).matmul(u);
            }
            return s.mul(s).sum(1).add(SMALLEST_SQUARE).sqrt();
        }
    }
}
