package org.gramian.pooling;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Pooling by a codebook of K codewords: positions are assigned to codewords, {@code [n, c, N]} to {@code [n, d]}.
 *
 * <p>The codebook is fitted to local features of training images by k-means or, for {@link FisherVector}, as a Gaussian
 * mixture. Vectors of the codewords are concatenated in their order.
 *
 * @since 0.1
 */
public sealed interface Codebook extends Aggregation
        permits Codebook.BagOfWords,
                Codebook.Vlad,
                Codebook.NetVlad,
                Codebook.DeepTen,
                FisherVector,
                MultiScaleOrderless {
    /** Returns the number of codewords K. */
    int words();

    @Override
    default int fittedTo() {
        return Fitting.DEFAULT_IMAGES;
    }

    /** Returns {@code K·C}, a vector of residuals for each codeword. */
    @Override
    default long outputs(long channels) {
        return words() * channels;
    }

    @Override
    default List<ParameterSpec> parameters(long channels) {
        return List.of(Vocabulary.unset("words", Role.FITTED, words(), channels));
    }

    @Override
    default void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
        Vocabulary.fit(maps, parameters.get("words"), random);
    }

    /**
     * Bag of visual words: the fraction of positions nearest to each codeword, {@code h_k = |{p : NN(x_p) = k}| / N},
     * {@code d = K}.
     *
     * <p>The {@code words [K, C]} are fitted by k-means. The result is piecewise constant, so no gradient reaches the
     * features. Reference: Csurka, Dance, Fan, Willamowski, Bray, "Visual Categorization with Bags of Keypoints", ECCV
     * Workshop on Statistical Learning in Computer Vision, 2004.
     *
     * @param words K
     */
    record BagOfWords(int words) implements Codebook {
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "bow",
                "bow:<words>",
                "fraction of the positions nearest to each codeword",
                a -> new BagOfWords(a.count("words")));

        @Override
        public String text() {
            return "bow:" + words;
        }

        @Override
        public long outputs(long channels) {
            return words;
        }

        @Override
        public boolean isDifferentiable() {
            return false;
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Var codebook = parameters.get("words");
            Fitting.requireFitted("bow", codebook);
            return maps.tape().apply(List.of(maps), () -> {
                Tensor x = maps.value();
                Tensor counts = Vocabulary.nearest(x, codebook.value()).sum(2);
                Tensor shares = counts.reshape(x.size(0), words).mul(1.0 / x.size(2));
                return Result.of(shares, (g, wanted) -> list(Tensors.zeros(maps.shape(), g.type(), g.device())));
            });
        }
    }

    /**
     * VLAD: the sum of residuals to the nearest codeword, {@code V_k = Σ_{p: NN(x_p) = k} (x_p − c_k)}, {@code d =
     * K·C}.
     *
     * <p>The {@code words [K, C]} are fitted by k-means and not trained. The assignment counts as constant in the
     * backward pass. References: Jégou, Douze, Schmid, Pérez, "Aggregating Local Descriptors into a Compact Image
     * Representation", CVPR 2010; intra-normalization: Arandjelović, Zisserman, "All about VLAD", CVPR 2013.
     *
     * @param words K
     * @param intra whether each {@code V_k} is L2-normalized; default true
     */
    record Vlad(int words, boolean intra) implements Codebook {
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "vlad",
                "vlad:<words>[,intra=true|false]",
                "residuals to the nearest codewords",
                a -> new Vlad(a.count("words"), a.flag("intra", true)));

        @Override
        public String text() {
            return "vlad:" + words + (intra ? "" : ",intra=false");
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Var codebook = parameters.get("words");
            Fitting.requireFitted("vlad", codebook);
            Var residuals = Vocabulary.residuals(Vocabulary.nearest(maps, codebook), maps, codebook);
            return Vocabulary.flat(intra ? Normalization.L2.apply(residuals) : residuals);
        }
    }

    /**
     * NetVLAD: residuals to codewords with a learned soft assignment, {@code V_k = Σ_p ā_k(x_p) (x_p − c_k)} with
     * {@code ā = softmax_k(⟨a_k, x⟩ + b_k)}, each {@code V_k} L2-normalized, {@code d = K·C}.
     *
     * <p>The published layer also L2-normalizes the whole vector: write {@code l2} after it. Parameters {@code
     * assignWeight [K, C]}, {@code assignBias [K]} and {@code centroids [K, C]} are trained. They are initialized by
     * k-means with {@code a_k = 2αc_k}, {@code b_k = −α‖c_k‖²}, so that {@code ā ∝ exp(−α‖x − c_k‖²)}; α is chosen so
     * that at the mean gap of squared distances the second nearest codeword weighs a hundredth of the nearest.
     * Reference: Arandjelović, Gronat, Torii, Pajdla, Sivic, "NetVLAD: CNN Architecture for Weakly Supervised Place
     * Recognition", CVPR 2016, equations (3) and (4).
     *
     * @param words K
     * @param unit whether the features of each position are L2-normalized first; default true, as published
     */
    record NetVlad(int words, boolean unit) implements Codebook {
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "netvlad",
                "netvlad:<words>[,unit=true|false]",
                "residuals to learned codewords, soft assignment",
                a -> new NetVlad(a.count("words"), a.flag("unit", true)));

        @Override
        public String text() {
            return "netvlad:" + words + (unit ? "" : ",unit=false");
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            return List.of(
                    Vocabulary.unset("assignWeight", Role.WEIGHT, words, channels),
                    Vocabulary.unset("assignBias", Role.BIAS, words),
                    // no weight decay, which would move centroids off the data
                    Vocabulary.unset("centroids", Role.BIAS, words, channels));
        }

        @Override
        public void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
            try (Tape tape = Tape.inference()) {
                Tensor rows = Vocabulary.sample(entering(tape.constant(maps)).value(), random);
                Tensor centroids = Vocabulary.words(rows, words, random);
                double sharpness = Vocabulary.sharpness(rows, centroids);
                Tensor squares = centroids.mul(centroids).sum(1).reshape(words);
                parameters.get("assignWeight").set(centroids.mul(2 * sharpness));
                parameters.get("assignBias").set(squares.mul(-sharpness));
                parameters.get("centroids").set(centroids.copy());
            }
        }

        private Var entering(Var maps) {
            return unit ? Normalization.L2.apply(maps.transpose(1, 2)).transpose(1, 2) : maps;
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Var weight = parameters.get("assignWeight");
            Fitting.requireFitted("netvlad", weight);
            Var x = entering(maps);
            Var bias = parameters.get("assignBias").reshape(words, 1);
            Var assignments = Vocabulary.softmax(weight.matmul(x).add(bias));
            Var residuals = Vocabulary.residuals(assignments, x, parameters.get("centroids"));
            return Vocabulary.flat(Normalization.L2.apply(residuals));
        }
    }

    /**
     * Residual encoding of Deep-TEN, {@code E_k = Σ_p a_k(x_p) (x_p − c_k)} with {@code a = softmax_k(s_k ‖x − c_k‖²)},
     * {@code d = K·C}.
     *
     * <p>{@code codewords [K, C]} and {@code smoothing [K]} are trained; {@code s_k} is the negative of the paper's
     * smoothing factor, as in the released code. Unlike the publication, which initializes both at random behind a 1×1
     * convolution with batch norm, codewords are initialized by k-means and {@code s_k} as in {@link NetVlad}.
     * Reference: Zhang, Xue, Dana, "Deep TEN: Texture Encoding Network", CVPR 2017, equations (2) to (4).
     *
     * @param words K
     */
    record DeepTen(int words) implements Codebook {
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "deepten",
                "deepten:<words>",
                "residuals to codewords with learned smoothing",
                a -> new DeepTen(a.count("words")));

        @Override
        public String text() {
            return "deepten:" + words;
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            return List.of( // no weight decay, which would move codewords off the data
                    Vocabulary.unset("codewords", Role.BIAS, words, channels),
                    Vocabulary.unset("smoothing", Role.BIAS, words));
        }

        @Override
        public void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
            Tensor rows = Vocabulary.sample(maps, random);
            Tensor codewords = Vocabulary.words(rows, words, random);
            double sharpness = Vocabulary.sharpness(rows, codewords);
            parameters.get("codewords").set(codewords.copy());
            parameters.get("smoothing").set(Tensors.full(-sharpness, Shape.of(words), maps.type(), maps.device()));
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Var codewords = parameters.get("codewords");
            Fitting.requireFitted("deepten", codewords);
            Var squares = maps.mul(maps).sum(1).add(codewords.mul(codewords).sum(1)); // [n, K, N]
            Var distances = squares.add(codewords.matmul(maps).mul(-2));
            Var smoothing = parameters.get("smoothing").reshape(words, 1);
            Var assignments = Vocabulary.softmax(distances.mul(smoothing));
            return Vocabulary.flat(Vocabulary.residuals(assignments, maps, codewords));
        }
    }
}
