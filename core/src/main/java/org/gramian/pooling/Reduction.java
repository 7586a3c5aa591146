package org.gramian.pooling;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.basis.NamedArguments;
import org.gramian.basis.NearestWord;
import org.gramian.pooling.PoolingStage.Context;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/**
 * Channel reduction at each position: {@code [n, c, N]} to {@code [n, k, N]}.
 *
 * @since 0.1
 */
public sealed interface Reduction extends PoolingStage
        permits Reduction.Conv, Reduction.Pca, Reduction.LayerChannels, DropCov {
    @Override
    default String kind() {
        return "reduction";
    }

    @Override
    default Reduction resolve(Context place) {
        return this;
    }

    /**
     * 1×1 convolution with ReLU of the paper, {@code max(0, W f + b)} at each position.
     *
     * <p>Parameters: {@code weight [k, c, 1, 1]} and {@code bias [k]}. {@code conv:same} keeps the number of channels:
     * the paper's conv:512 for VGG's conv5_3, and the input of a network's own tail for other layers. {@code
     * conv:atmost=256} has {@code min(256, c)} channels; a plan and a model file record the number.
     *
     * @param channels k, or {@link #SAME}
     * @param initialBias initial bias
     * @param atMost whether k is an upper bound, {@code min(k, c)}
     */
    record Conv(int channels, double initialBias, boolean atMost) implements Reduction {
        /** Keeps most units active at the start, as in the authors' code. */
        static final double INITIAL_BIAS = 0.2;

        /** As many output as input channels. */
        public static final int SAME = 0;

        public Conv {
            if (channels != SAME || atMost) {
                requirePositive("conv", channels);
            }
            if (!Double.isFinite(initialBias)) {
                throw new IllegalArgumentException("conv: the bias must be a number, found " + initialBias);
            }
        }

        /** Creates a convolution with exactly the given number of channels. */
        public Conv(int channels, double initialBias) {
            this(channels, initialBias, false);
        }

        static Conv read(NamedArguments arguments) {
            boolean atMost = arguments.text("channels", "").isEmpty()
                    && !arguments.text("atmost", "").isEmpty();
            int channels = atMost ? arguments.count("atmost") : arguments.countOr("channels", "same", SAME);
            return new Conv(channels, arguments.number("bias"), atMost);
        }

        @Override
        public Conv resolve(Context place) {
            return atMost ? new Conv(Math.toIntExact(outputs(place.entering())), initialBias) : this;
        }

        @Override
        public String text() {
            return "conv:" + (atMost ? "atmost=" : "") + (channels == SAME ? "same" : channels)
                    + (initialBias == INITIAL_BIAS ? "" : ",bias=" + StageRegistry.number(initialBias));
        }

        @Override
        public long outputs(long entering) {
            return channels == SAME ? entering : atMost ? Math.min(channels, entering) : channels;
        }

        @Override
        public List<ParameterSpec> parameters(long entering) {
            long leaving = outputs(entering);
            return List.of(
                    new ParameterSpec("weight", Shape.of(leaving, entering, 1, 1), Role.WEIGHT, Initializer.he()),
                    new ParameterSpec("bias", Shape.of(leaving), Role.BIAS, Initializer.constant(initialBias)));
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Var weight = weight(maps, parameters);
            long leaving = outputs(maps.shape().at(1));
            Var bias = parameters.get("bias");
            return maps.tape().apply(List.of(maps, weight, bias), () -> {
                Tensor x = maps.value();
                Tensor w = weight.value().reshape(leaving, x.size(1));
                Tensor product = w.matmul(x);
                Tensor y = product.add(bias.value().reshape(leaving, 1)).reluInPlace();
                return Result.of(
                        y,
                        (g, wanted) -> {
                            Tensor gz = g.reluBackward(y);
                            return list(
                                    wanted[0] ? w.transpose().matmul(gz) : null,
                                    wanted[1]
                                            ? gz.sumOfProducts(x.transpose())
                                                    .reshape(weight.shape().sizes())
                                            : null,
                                    wanted[2] ? gz.sum(0, 2).reshape(leaving) : null);
                        },
                        w);
            });
        }

        private Var weight(Var maps, Bindings parameters) {
            Var weight = parameters.get("weight");
            long leaving = outputs(maps.shape().at(1));
            if (weight.shape().rank() != 4
                    || weight.shape().at(1) != maps.shape().at(1)) {
                throw new IllegalArgumentException(
                        "conv: weights " + weight.value() + " do not fit maps " + maps.value() + "; expected weights ["
                                + leaving + ", " + maps.shape().at(1) + ", 1, 1]");
            }
            return weight;
        }
    }

    /**
     * Projection onto the first principal axes, {@code P(f − μ)} at each position.
     *
     * <p>Parameters {@code mean [c]} and {@code components [k, c]} are fitted to training features, not trained.
     *
     * @param channels k
     */
    record Pca(int channels) implements Reduction {
        public Pca {
            requirePositive("pca", channels);
        }

        @Override
        public String text() {
            return "pca:" + channels;
        }

        @Override
        public long outputs(long entering) {
            if (channels > entering) {
                throw new IllegalArgumentException(
                        "pca: expected at most as many components as channels, found " + channels + " of " + entering);
            }
            return channels;
        }

        @Override
        public List<ParameterSpec> parameters(long entering) {
            return List.of(
                    new ParameterSpec("mean", Shape.of(entering), Role.FITTED, Fitting.UNSET),
                    new ParameterSpec("components", Shape.of(channels, entering), Role.FITTED, Fitting.UNSET));
        }

        @Override
        public int fittedTo() {
            return Fitting.DEFAULT_IMAGES;
        }

        @Override
        public void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
            Tensor exact = maps.to(DType.F64).to(Device.CPU);
            long samples = maps.size(0) * maps.size(2);
            Tensor mean = exact.sum(0, 2).mul(1.0 / samples); // [1, c, 1]
            Tensor centred = exact.sub(mean);
            Tensor scatter = centred.sumOfProducts(centred.transpose());
            parameters.get("mean").set(Fitting.like(mean.reshape(maps.size(1)), maps));
            parameters.get("components").set(Fitting.like(PrincipalAxes.leading(scatter, channels), maps));
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Var mean = parameters.get("mean");
            Fitting.requireFitted("pca", mean);
            Var column = mean.reshape(maps.shape().at(1), 1);
            return parameters.get("components").matmul(maps.sub(column));
        }
    }

    private static void requirePositive(String word, int channels) {
        if (channels < 1) {
            throw new IllegalArgumentException(word + ": expected at least 1 channel, found " + channels);
        }
    }

    /**
     * Channels of one feature layer of a {@link Backbone} with several: {@code [n, c, N]} to {@code [n, to − from, N]}.
     *
     * <p>The text {@code layer:block29} leaves the range open until the backbone is known; then it is {@code
     * layer:block29,from=160,to=608}. A slash in a layer's name is written as a colon.
     *
     * @param layer name of the layer
     * @param range its channels; empty while the backbone is unknown
     */
    record LayerChannels(String layer, Optional<Range> range) implements Reduction {
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "layer",
                "layer:<name>[,from=<channel>,to=<channel>]",
                "channels of one layer of a backbone with several layers",
                LayerChannels::read);

        /**
         * Range of channels.
         *
         * @param from first channel, from 0
         * @param to end, exclusive
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
                throw new IllegalArgumentException(
                        "layer: expected the name of a layer, e.g. layer:block29, found none");
            }
        }

        /** Creates the channels of a layer while the backbone is unknown. */
        public LayerChannels(String layer) {
            this(layer, Optional.empty());
        }

        private static LayerChannels read(NamedArguments arguments) {
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

        /** Returns the name of a layer from its form in a pooling's text, where slashes separate stages. */
        static String name(String word) {
            return word.replace(':', '/');
        }

        /** Returns the form of a layer's name in a pooling's text. */
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
        public LayerChannels resolve(Context place) {
            if (place.backbone().isEmpty()) {
                return this;
            }
            Backbone backbone = place.backbone().get();
            if (place.mixed()) {
                throw new IllegalArgumentException(text()
                        + ": expected the backbone's own channels, found those of a reduction before it; put layer:"
                        + word(layer) + " first");
            }
            List<String> layers = backbone.cutLayers();
            int index = layers.stream().map(LayerChannels::word).toList().indexOf(word(layer));
            if (index < 0) {
                throw new IllegalArgumentException(text() + ": expected a layer of " + backbone + ", one of "
                        + String.join(", ", layers) + ", found '" + layer + "'" + NearestWord.suggestion(layer, layers)
                        + "; add it to the layers, e.g. --layer " + layers.getFirst() + "+" + layer);
            }
            List<Long> channels = backbone.channelsOfLayers();
            int from = Math.toIntExact(channels.subList(0, index).stream()
                    .mapToLong(Long::longValue)
                    .sum());
            Range own = new Range(from, Math.toIntExact(from + channels.get(index)));
            if (range.isPresent() && !range.get().equals(own)) {
                throw new IllegalArgumentException(
                        text() + ": the channels of " + layer + " of " + backbone + " are from=" + own.from() + ",to="
                                + own.to() + "; write layer:" + word(layer) + " for these");
            }
            return new LayerChannels(layer, Optional.of(own));
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Range known = known();
            outputs(maps.shape().at(1));
            return maps.slice(1, known.from(), known.to());
        }
    }
}
