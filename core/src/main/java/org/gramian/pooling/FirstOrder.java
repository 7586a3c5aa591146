package org.gramian.pooling;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.basis.EnumWords;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.Convolution.Window.Pair;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * First-order pooling: one statistic per channel, {@code [n, c, N]} to {@code [n, c]}.
 *
 * @since 0.1
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
            Var sums = maps.sum(2);
            return sums.mul(1.0 / maps.shape().at(2))
                    .reshape(maps.shape().at(0), maps.shape().at(1));
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
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "max", "max", "largest value of each map, first order", a -> new Maximum());

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
            Var rows = maps.reshape(images, channels, 1, positions);
            Var largest = FeatureMaps.maxPool(rows, new Window(whole, whole, new Pair(0, 0), false));
            return largest.reshape(images, channels);
        }
    }

    /**
     * Sum pooling, {@code v_i = Σ_p a(p) f_i(p)}: sum-pooled convolutional features (SPoC).
     *
     * <p>{@code a(p) = 1} without a prior; with {@link Prior#CENTER}, at row y and column x of h×w, from 0:
     *
     * <pre>{@code a = exp(-((y - (h-1)/2)^2 + (x - (w-1)/2)^2) / 2s^2),  s = min(h, w) / 6}</pre>
     *
     * <p>The authors also whiten the sums by PCA; {@code pca:<channels>} before this stage projects without whitening.
     * Reference: Babenko, Lempitsky, "Aggregating Deep Convolutional Features for Image Retrieval", ICCV 2015.
     *
     * @param prior weights of the positions
     */
    record Sum(Prior prior) implements FirstOrder {
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "sum",
                "sum[:prior=none|center]",
                "sum of each feature map, first order; center: centre-weighted",
                a -> new Sum(EnumWords.parse(Prior.class, "the prior", a.text("prior", "none"))));

        /** Weights of the positions. */
        public enum Prior {
            /** Uniform. */
            NONE,
            /** Gaussian around the centre. */
            CENTER
        }

        @Override
        public String text() {
            return prior == Prior.NONE ? "sum" : "sum:prior=" + EnumWords.text(prior);
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
                return maps.sum(2).reshape(images, channels);
            }
            int height = Math.toIntExact(maps.shape().at(2));
            int width = Math.toIntExact(maps.shape().at(3));
            Var flat = maps.reshape(images, channels, (long) height * width);
            Var sums = maps.tape().apply(List.of(flat), () -> {
                double[] a = centred(height, width);
                Tensor x = flat.value();
                Tensor weights = Tensors.of(a, Shape.of(a.length, 1), x.type()).to(x.device());
                return Result.of(x.matmul(weights), (g, wanted) -> list(g.matmul(weights.transpose())), weights);
            });
            return sums.reshape(images, channels);
        }

        /** Returns the weights of {@link Prior#CENTER}, {@code [h·w]}. */
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
     * Generalized mean (GeM), between the average (p = 1) and the maximum (p → ∞):
     *
     * <pre>{@code v_i = (mean_p y_i(p)^p)^(1/p),  y = max(f, 1e-6)}</pre>
     *
     * <p>It is computed as {@code m·s^(1/p)} with {@code m = max y}, {@code a = exp(p·log(y/m))} and {@code s = mean
     * a}, so that no power overflows float32. Backward, N the number of positions:
     *
     * <pre>{@code
     * dv/df      = v·a / (s·N·y) where f > 1e-6, else 0
     * dv/dlog(p) = v·(mean(a·log(y/m))/s - log(s)/p)
     * }</pre>
     *
     * <p>The parameter {@code logP [1]} is learned, so that p stays positive. Reference: Radenović, Tolias, Chum,
     * "Fine-tuning CNN Image Retrieval with No Human Annotation", PAMI 2018.
     *
     * @param p exponent, the initial one if it is learned
     * @param learned whether p is trained
     */
    record GeneralizedMean(double p, boolean learned) implements FirstOrder {
        /** Lower bound of the features, which keeps powers positive. */
        public static final double SMALLEST = 1e-6;

        private static final double INITIAL_P = 3; // as published

        /** The text form has p always, since {@code gem} alone is the name of a method. */
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "gem",
                "gem[:p=3,learn=true|false]",
                "generalized mean of each map: p=1 average, large p maximum; p is learned",
                a -> new GeneralizedMean(a.number("p", INITIAL_P), a.flag("learn", true)));

        public GeneralizedMean {
            if (!(p > 0) || Double.isInfinite(p)) {
                throw new IllegalArgumentException("gem: p must be a number above 0, found " + p);
            }
        }

        @Override
        public String text() {
            return "gem:" + StageRegistry.number(p) + (learned ? "" : ",learn=false");
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            // no weight decay, which would pull p towards 1
            return learned
                    ? List.of(new ParameterSpec("logP", Shape.of(1), Role.BIAS, Initializer.constant(Math.log(p))))
                    : List.of();
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            List<Var> inputs = learned ? List.of(maps, parameters.get("logP")) : List.of(maps);
            Tensor x = maps.value();
            Var means = maps.tape().apply(inputs, () -> {
                Tensor exponent =
                        learned ? inputs.getLast().value().exp() : Tensors.full(p, Shape.of(1), x.type(), x.device());
                return mean(x, exponent);
            });
            return means.reshape(x.size(0), x.size(1));
        }

        private static Result mean(Tensor x, Tensor exponent) {
            Tensor y = x.atLeast(SMALLEST);
            Tensor largest = y.max(2);
            Tensor logs = y.div(largest).log();
            Tensor powers = logs.mul(exponent).exp();
            long positions = x.size(2);
            Tensor s = powers.sum(2).mul(1.0 / positions);
            Tensor logS = s.log();
            Tensor v = largest.mul(logS.div(exponent).exp());
            Tensor ofLogs = powers.mul(logs).sum(2).mul(1.0 / positions);
            Tensor ofExponent = v.mul(ofLogs.div(s).sub(logS.div(exponent)));
            Tensor share = v.div(s).mul(1.0 / positions);
            return Result.of(
                    v,
                    (g, wanted) -> list(
                            wanted[0] ? ofMaps(g.mul(share), powers, x) : null,
                            wanted.length > 1 ? g.mul(ofExponent).sum().reshape(1) : null),
                    powers,
                    share,
                    ofExponent);
        }

        private static Tensor ofMaps(Tensor upstream, Tensor powers, Tensor x) {
            Tensor slopes = powers.mul(upstream).div(x.atLeast(SMALLEST));
            return Tensors.where(x.greater(SMALLEST), slopes, 0);
        }
    }

    /**
     * Cross-dimensional weighting (CroW): sum pooling with weights of positions and channels.
     *
     * <pre>{@code
     * v_i = b_i Σ_p s(p) f_i(p)
     * s   = sqrt(S / ‖S‖),                    S(p) = Σ_k max(f_k(p), 0)
     * b_i = log((C·e + Σ_k Q_k) / (e + Q_i)), Q_i the fraction of positions at which f_i is positive, e = 1e-6
     * }</pre>
     *
     * <p>In the backward pass b, which depends on counts, is constant; where S is 0, s has no gradient. Reference:
     * Kalantidis, Mellina, Osindero, "Cross-dimensional Weighting for Aggregated Deep Convolutional Features", ECCV
     * 2016 workshops, with a = b = 2.
     */
    record Weighted() implements FirstOrder {
        /** e, which keeps the weight of a dead channel finite. */
        public static final double MARGIN = 1e-6;

        private static final Normalization ROOT = new Normalization.Root(0);

        /** Not {@code crow}, which is the name of a method. */
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "weighted", "weighted", "sum of each map, positions and channels weighted (CroW)", a -> new Weighted());

        @Override
        public String text() {
            return "weighted";
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            long images = maps.shape().at(0);
            long positions = maps.shape().at(2);
            Var responses = maps.relu().sum(1).reshape(images, positions);
            Var s = ROOT.apply(Normalization.L2.apply(responses), parameters);
            Var sums = maps.matmul(s.reshape(images, positions, 1));
            Var weighted = maps.tape().apply(List.of(sums), () -> {
                Tensor b = channelWeights(maps.value());
                return Result.of(sums.value().mul(b), (g, wanted) -> list(g.mul(b)), b);
            });
            return weighted.reshape(images, maps.shape().at(1));
        }

        /** Computes {@code b [n, c, 1]}. */
        private static Tensor channelWeights(Tensor maps) {
            Tensor positive = maps.relu().sign();
            Tensor share = positive.sum(2).mul(1.0 / maps.size(2));
            Tensor all = share.sum(1).add(MARGIN * maps.size(1));
            return all.div(share.add(MARGIN)).log();
        }
    }
}
