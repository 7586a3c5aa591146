package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Window;
import org.gramian.tensor.Window.Pair;

/**
 * Multi-scale orderless pooling on feature maps: the mean of the whole, and VLAD of means over windows of half and of a
 * quarter of the side, each of length 1, one after the other.
 *
 * <p>Windows are as in the publication, where 128 and 64 pixels slide by 32 over 256: half and a quarter of each side, by an
 * eighth of it, at least one position. {@code C + 2KC} numbers; the vocabularies {@code half [K, C]} and {@code quarter [K,
 * C]} are fitted by k-means.
 *
 * <p><b>What differs from the publication:</b> there, every window of the <em>image</em> goes through the whole network by
 * itself; here windows of the feature maps of one pass stand for them. There, patches reach the five nearest words with
 * weights, after a PCA to 500; here the nearest one, without PCA.
 *
 * <p>Y. Gong, L. Wang, R. Guo, S. Lazebnik: Multi-scale Orderless Pooling of Deep Convolutional Activation Features, ECCV
 * 2014.
 *
 * @param words K of each vocabulary
 */
public record MultiScaleOrderless(int words) implements Codebook {
    static final Words.Rule RULE = new Words.Rule(
            "mop",
            "mop:<words>",
            "the mean, and VLAD of windows of half and a quarter of the side",
            a -> new MultiScaleOrderless(a.count("words")));

    private static final int STEPS = 8;
    private static final Bindings NONE = Bindings.of(Map.of());

    /** A size of windows with a vocabulary: its parameter's name, and how often a window fits into the side. */
    public enum Level {
        HALF("half", 2),
        QUARTER("quarter", 4);

        private final String parameter;
        private final int perSide;

        Level(String parameter, int perSide) {
            this.parameter = parameter;
            this.perSide = perSide;
        }

        /** The name of its vocabulary. */
        public String parameter() {
            return parameter;
        }

        /** How the window slides over maps of these sides. */
        public Window window(int height, int width) {
            Pair size = new Pair(Math.max(1, height / perSide), Math.max(1, width / perSide));
            Pair stride = new Pair(Math.max(1, height / STEPS), Math.max(1, width / STEPS));
            return new Window(size, stride, new Pair(0, 0), false);
        }

        /** The means over all windows as positions, {@code [n, c, windows]}. */
        private Var means(Var maps) {
            int height = Math.toIntExact(maps.shape().at(2));
            int width = Math.toIntExact(maps.shape().at(3));
            Var means = FeatureMaps.averagePool(maps, window(height, width));
            return Shapes.reshape(
                    means,
                    means.shape().at(0),
                    means.shape().at(1),
                    means.shape().at(2) * means.shape().at(3));
        }
    }

    public MultiScaleOrderless {
        Vocabulary.requireWords("mop", words);
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
                parameters.get(level.parameter).set(Tensors.copy(Vocabulary.words(rows, words, random)));
            }
        }
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Normalization length = new Normalization.L2();
        List<Var> levels = new ArrayList<>();
        Var whole = FeatureMaps.globalAveragePool(maps);
        levels.add(length.apply(
                Shapes.reshape(whole, whole.shape().at(0), whole.shape().at(1)), NONE));
        for (Level level : Level.values()) {
            Var codebook = parameters.get(level.parameter);
            Fitting.requireFitted("mop", codebook);
            Var means = level.means(maps);
            Var residuals = Vocabulary.residuals(Vocabulary.nearest(means, codebook), means, codebook);
            levels.add(length.apply(Vocabulary.flat(residuals), NONE));
        }
        return Shapes.concat(levels, 1);
    }
}
