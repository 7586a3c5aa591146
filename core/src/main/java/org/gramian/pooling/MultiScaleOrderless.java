package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.Convolution.Window.Pair;
import org.gramian.tensor.Tensor;

/**
 * Multi-scale orderless pooling (MOP) on feature maps: the mean over all positions, and VLAD of the means over windows
 * of half and of a quarter of each side, each L2-normalized, {@code d = C + 2KC}.
 *
 * <p>Windows slide by an eighth of the side, as 128 and 64 of 256 pixels by 32 in the publication. The codebooks {@code
 * half [K, C]} and {@code quarter [K, C]} are fitted by k-means.
 *
 * <p>Unlike the publication, which passes each window of the image through the network, reduces by PCA to 500 and
 * assigns to the five nearest codewords, this uses windows of the feature maps of one pass, no PCA and the nearest
 * codeword. Reference: Gong, Wang, Guo, Lazebnik, "Multi-scale Orderless Pooling of Deep Convolutional Activation
 * Features", ECCV 2014.
 *
 * @param words K of each codebook
 * @since 0.1
 */
public record MultiScaleOrderless(int words) implements Codebook {
    static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
            "mop",
            "mop:<words>",
            "the mean, and VLAD of windows of half and a quarter of the side",
            a -> new MultiScaleOrderless(a.count("words")));

    private static final int STEPS = 8;

    /** Window size with its own codebook. */
    public enum Level {
        HALF("half", 2),
        QUARTER("quarter", 4);

        private final String parameter;
        private final int perSide;

        Level(String parameter, int perSide) {
            this.parameter = parameter;
            this.perSide = perSide;
        }

        /** Returns the name of the parameter that holds the codebook. */
        public String parameter() {
            return parameter;
        }

        /** Returns the sliding window for feature maps of a size. */
        public Window window(int height, int width) {
            Pair size = new Pair(Math.max(1, height / perSide), Math.max(1, width / perSide));
            Pair stride = new Pair(Math.max(1, height / STEPS), Math.max(1, width / STEPS));
            return new Window(size, stride, new Pair(0, 0), false);
        }

        /** Computes the means over all windows, {@code [n, c, windows]}. */
        private Var means(Var maps) {
            int height = Math.toIntExact(maps.shape().at(2));
            int width = Math.toIntExact(maps.shape().at(3));
            Var means = FeatureMaps.averagePool(maps, window(height, width));
            return means.reshape(
                    means.shape().at(0),
                    means.shape().at(1),
                    means.shape().at(2) * means.shape().at(3));
        }
    }

    @Override
    public String text() {
        return "mop:" + words;
    }

    @Override
    public boolean isSpatial() {
        return true;
    }

    @Override
    public long outputs(long channels) {
        return channels * (1 + 2L * words);
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return List.of(
                Vocabulary.unset(Level.HALF.parameter, Role.FITTED, words, channels),
                Vocabulary.unset(Level.QUARTER.parameter, Role.FITTED, words, channels));
    }

    @Override
    public void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
        try (Tape tape = Tape.inference()) {
            for (Level level : Level.values()) {
                Tensor rows = Vocabulary.sample(level.means(tape.constant(maps)).value(), random);
                parameters
                        .get(level.parameter)
                        .set(Vocabulary.words(rows, words, random).copy());
            }
        }
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        List<Var> levels = new ArrayList<>();
        Var whole = FeatureMaps.globalAveragePool(maps);
        levels.add(Normalization.L2.apply(
                whole.reshape(whole.shape().at(0), whole.shape().at(1))));
        for (Level level : Level.values()) {
            Var codebook = parameters.get(level.parameter);
            Fitting.requireFitted("mop", codebook);
            Var means = level.means(maps);
            Var residuals = Vocabulary.residuals(Vocabulary.nearest(means, codebook), means, codebook);
            levels.add(Normalization.L2.apply(Vocabulary.flat(residuals)));
        }
        return Var.concat(levels, 1);
    }
}
