package org.gramian.pooling;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.Matrices;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.basis.EnumWords;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.tensor.Window;
import org.gramian.tensor.Window.Pair;

/**
 * First-order pooling: one statistic per channel, {@code [n, c, N]} to {@code [n, c]}.
 */
public sealed interface FirstOrder extends Aggregation {
    @Override
    default long outputs(long channels) {
        return channels;
    }

    /** Average pooling, {@code v_i = Σ_p f_i(p) / N}: the first-order baseline. */
    record Average() implements FirstOrder {
        @Override
        public String text() {
            return "average";
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Var sums = Arithmetic.sum(maps, 2);
            return Shapes.reshape(
                    Arithmetic.scale(sums, 1.0 / maps.shape().at(2)),
                    maps.shape().at(0),
                    maps.shape().at(1));
        }
    }

    /**
     * Maximum pooling, {@code v_i = max_p f_i(p)}: maximum activations of convolutions (MAC).
     *
     * <p>The gradient of v_i goes to the position of the maximum; of equal ones to the first in row-major order.
     * Reference: Tolias, Sicre, Jégou, "Particular Object Retrieval with Integral Max-pooling of CNN Activations", ICLR
     * 2016.
     */
    record Maximum() implements FirstOrder {
        static final Words.Rule RULE =
                new Words.Rule("max", "max", "largest value of each map, first order", a -> new Maximum());

        @Override
        public String text() {
            return "max";
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            long images = maps.shape().at(0);
            long channels = maps.shape().at(1);
            long positions = maps.shape().at(2);
            Pair whole = new Pair(1, Math.toIntExact(positions));
            Var rows = Shapes.reshape(maps, images, channels, 1, positions);
            Var largest = FeatureMaps.maxPool(rows, new Window(whole, whole, new Pair(0, 0), false));
            return Shapes.reshape(largest, images, channels);
        }
    }

    /**
     * The sum of each map, {@code v_i = Σ_p a(p) f_i(p)}: sum-pooled convolutional features (SPoC).
     *
     * <p>Without a prior {@code a(p) = 1}. With {@link Prior#CENTER}, which assumes that what matters lies in the
     * middle, at row y and column x of h×w, counted from 0:
     *
     * <pre>{@code a = exp(-((y - (h-1)/2)^2 + (x - (w-1)/2)^2) / 2s^2),  s = min(h, w) / 6}</pre>
     *
     * <p>s is a third of the way from the centre to the nearest border, as the authors have it. They whiten the sums by
     * PCA; {@code pca:<channels>} before this word turns and shortens the features so, without dividing by the spread.
     *
     * <p>Babenko, Lempitsky: Aggregating Deep Convolutional Features for Image Retrieval, ICCV 2015.
     *
     * @param prior how much each position counts
     */
    record Sum(Prior prior) implements FirstOrder {
        static final Words.Rule RULE = new Words.Rule(
                "sum",
                "sum[:prior=none|center]",
                "sum of each feature map, first order; center: centre-weighted",
                a -> new Sum(Prior.parse(a.text("prior", Prior.NONE.text()))));

        /** How much each position counts. */
        public enum Prior {
            /** All the same. */
            NONE,
            /** The centre most, by a Gaussian. */
            CENTER;

            /** The word, as {@code center}. */
            public String text() {
                return EnumWords.text(this);
            }

            /** Reads {@link #text} back. */
            public static Prior parse(String text) {
                return EnumWords.parse(Prior.class, "the prior", text);
            }
        }

        @Override
        public String text() {
            return prior == Prior.NONE ? "sum" : "sum:prior=" + prior.text();
        }

        @Override
        public boolean isSpatial() {
            return prior == Prior.CENTER;
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            long images = maps.shape().at(0);
            long channels = maps.shape().at(1);
            if (prior == Prior.NONE) {
                return Shapes.reshape(Arithmetic.sum(maps, 2), images, channels);
            }
            int height = Math.toIntExact(maps.shape().at(2));
            int width = Math.toIntExact(maps.shape().at(3));
            Var flat = Shapes.reshape(maps, images, channels, (long) height * width);
            Var sums = maps.tape().apply(List.of(flat), () -> {
                Tensor weights = weights(height, width, flat.value());
                return Result.of(
                        Products.matmul(flat.value(), weights),
                        (g, wanted) -> list(Products.matmul(g, Views.transpose(weights))),
                        weights);
            });
            return Shapes.reshape(sums, images, channels);
        }

        /** The column {@code a [h·w, 1]}, of the maps' type and device. */
        private static Tensor weights(int height, int width, Tensor maps) {
            double[] weights = centred(height, width);
            return Tensors.to(Tensors.of(weights, Shape.of(weights.length, 1), maps.type()), maps.device());
        }

        /** How much each position counts with {@link Prior#CENTER}, row by row. */
        public static double[] centred(int height, int width) {
            double[] weights = new double[height * width];
            double spread = Math.min(height, width) / 6.0;
            for (int y = 0; y < height; y++) {
                for (int x = 0; x < width; x++) {
                    double down = y - (height - 1) / 2.0;
                    double right = x - (width - 1) / 2.0;
                    weights[y * width + x] = Math.exp(-(down * down + right * right) / (2 * spread * spread));
                }
            }
            return weights;
        }
    }

    /**
     * The generalized mean of each map (GeM), between the average (p = 1) and the maximum (p to infinity):
     *
     * <pre>{@code v_i = (mean_p y_i(p)^p)^(1/p),  y = max(f, 1e-6)}</pre>
     *
     * <p>It is computed as {@code m·s^(1/p)} with {@code m = max y}, {@code a = exp(p·log(y/m))} and {@code s = mean
     * a}, so that no power leaves single precision. Backward, N the number of positions:
     *
     * <pre>{@code
     * dv/df      = v·a / (s·N·y) where f > 1e-6, else 0
     * dv/dlog(p) = v·(mean(a·log(y/m))/s - log(s)/p)
     * }</pre>
     *
     * <p>What is learned is {@code logP}, one number for all maps, so that p stays positive.
     *
     * <p>Radenović, Tolias, Chum: Fine-tuning CNN Image Retrieval with No Human Annotation, PAMI 2018.
     *
     * @param p the exponent, where it starts if it is learned
     * @param learned whether training moves it
     */
    record GeneralizedMean(double p, boolean learned) implements FirstOrder {
        /** No response counts as smaller: powers of it stay positive. */
        public static final double SMALLEST = 1e-6;

        private static final double USUAL = 3; // where the authors start

        /** Always with p, since {@code gem} alone is the name of a method that normalizes, too. */
        static final Words.Rule RULE = new Words.Rule(
                "gem",
                "gem[:p=3,learn=true|false]",
                "generalized mean of each map: p=1 average, large p maximum; p is learned",
                a -> new GeneralizedMean(a.number("p", USUAL), learn(a)));

        public GeneralizedMean {
            if (!(p > 0) || Double.isInfinite(p)) {
                throw new IllegalArgumentException("gem: p must be a number above 0, found " + p);
            }
        }

        private static boolean learn(WordArguments arguments) {
            String text = arguments.text("learn", "true");
            if (!text.equals("true") && !text.equals("false")) {
                throw arguments.wrong("learn", "true or false", text);
            }
            return text.equals("true");
        }

        @Override
        public String text() {
            return "gem:" + Words.number(p) + (learned ? "" : ",learn=false");
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            ParameterSpec exponent = new ParameterSpec(
                    "logP",
                    Shape.of(1),
                    Role.BIAS, // decay would pull p towards 1
                    (random, shape, type) -> Tensors.full(Math.log(p), shape, type, Device.CPU));
            return learned ? List.of(exponent) : List.of();
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            List<Var> inputs = learned ? List.of(maps, parameters.get("logP")) : List.of(maps);
            Tensor x = maps.value();
            Var means = maps.tape().apply(inputs, () -> {
                Tensor exponent = learned
                        ? Elementwise.exp(inputs.getLast().value())
                        : Tensors.full(p, Shape.of(1), x.type(), x.device());
                return mean(x, exponent);
            });
            return Shapes.reshape(means, x.size(0), x.size(1));
        }

        private static Result mean(Tensor x, Tensor exponent) {
            Tensor y = Elementwise.atLeast(x, SMALLEST);
            Tensor largest = Reductions.max(y, 2);
            Tensor logs = Elementwise.log(Elementwise.div(y, largest));
            Tensor powers = Elementwise.exp(Elementwise.mul(logs, exponent));
            long positions = x.size(2);
            Tensor s = Elementwise.mul(Reductions.sum(powers, 2), 1.0 / positions);
            Tensor logS = Elementwise.log(s);
            Tensor v = Elementwise.mul(largest, Elementwise.exp(Elementwise.div(logS, exponent)));
            Tensor ofLogs = Elementwise.mul(Reductions.sum(Elementwise.mul(powers, logs), 2), 1.0 / positions);
            Tensor ofExponent =
                    Elementwise.mul(v, Elementwise.sub(Elementwise.div(ofLogs, s), Elementwise.div(logS, exponent)));
            Tensor share = Elementwise.mul(Elementwise.div(v, s), 1.0 / positions);
            return Result.of(
                    v,
                    (g, wanted) -> list(
                            wanted[0] ? ofMaps(Elementwise.mul(g, share), powers, x) : null,
                            wanted.length > 1
                                    ? Views.reshape(Reductions.sum(Elementwise.mul(g, ofExponent)), 1)
                                    : null),
                    powers,
                    share,
                    ofExponent);
        }

        private static Tensor ofMaps(Tensor upstream, Tensor powers, Tensor x) {
            Tensor slopes = Elementwise.div(Elementwise.mul(powers, upstream), Elementwise.atLeast(x, SMALLEST));
            return Elementwise.where(Elementwise.greater(x, SMALLEST), slopes, 0);
        }
    }

    /**
     * The sum of each map with positions and channels weighted by what the maps show: cross-dimensional weighting
     * (CroW).
     *
     * <pre>{@code
     * v_i = b_i Σ_p s(p) f_i(p)
     * s   = sqrt(S / ‖S‖),                 S(p) = Σ_k max(f_k(p), 0)
     * b_i = log((C·e + Σ_k Q_k) / (e + Q_i)), Q_i the share of positions at which f_i is positive, e = 1e-6
     * }</pre>
     *
     * <p>So a position counts more where more responds, and a channel more if it seldom responds. The authors' features
     * follow a ReLU; of features that may be negative, what is negative counts in neither weight, but in the sum.
     *
     * <p>On the way back b is a constant: it counts, and a small change of the features changes no count. The gradient
     * goes through s; where S is 0, s has none.
     *
     * <p>Kalantidis, Mellina, Osindero: Cross-dimensional Weighting for Aggregated Deep Convolutional Features, ECCV
     * 2016 workshops; their exponents a = b = 2.
     */
    record Weighted() implements FirstOrder {
        /** e, so that a channel that never responds has a finite weight. */
        public static final double MARGIN = 1e-6;

        private static final Normalization LENGTH = new Normalization.L2();
        private static final Normalization ROOT = new Normalization.Root(0);

        /** Not {@code crow}, which is the name of the method that normalizes, too. */
        static final Words.Rule RULE = new Words.Rule(
                "weighted", "weighted", "sum of each map, positions and channels weighted (CroW)", a -> new Weighted());

        @Override
        public String text() {
            return "weighted";
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            long images = maps.shape().at(0);
            long positions = maps.shape().at(2);
            Var responses = Shapes.reshape(Arithmetic.sum(Arithmetic.relu(maps), 1), images, positions);
            Var s = ROOT.apply(LENGTH.apply(responses, parameters), parameters);
            Var sums = Matrices.matmul(maps, Shapes.reshape(s, images, positions, 1));
            Var weighted = maps.tape().apply(List.of(sums), () -> {
                Tensor b = channelWeights(maps.value());
                return Result.of(Elementwise.mul(sums.value(), b), (g, wanted) -> list(Elementwise.mul(g, b)), b);
            });
            return Shapes.reshape(weighted, images, maps.shape().at(1));
        }

        /** {@code b [n, c, 1]} of maps {@code [n, c, N]}. */
        private static Tensor channelWeights(Tensor maps) {
            Tensor positive = Elementwise.sign(Elementwise.relu(maps));
            Tensor share = Elementwise.mul(Reductions.sum(positive, 2), 1.0 / maps.size(2));
            Tensor all = Elementwise.add(Reductions.sum(share, 1), MARGIN * maps.size(1));
            return Elementwise.log(Elementwise.div(all, Elementwise.add(share, MARGIN)));
        }
    }
}
