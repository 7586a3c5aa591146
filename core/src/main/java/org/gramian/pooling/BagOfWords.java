package org.gramian.pooling;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * The bag of words: which share of the positions is nearest to each word, {@code h_k = |{p : NN(x_p) = k}| / N}.
 *
 * <p>K numbers with sum 1. The {@code words [K, C]} are fitted by k-means. It is constant almost everywhere: no gradient
 * reaches the features.
 *
 * <p>G. Csurka, C. Dance, L. Fan, J. Willamowski, C. Bray: Visual Categorization with Bags of Keypoints, ECCV Workshop on
 * Statistical Learning in Computer Vision, 2004.
 *
 * @param words K
 */
public record BagOfWords(int words) implements Aggregation {
    static final Words.Rule RULE = new Words.Rule(
            "bow",
            "bow:<words>",
            "fraction of the positions nearest to each codeword",
            a -> new BagOfWords(a.count("words")));

    public BagOfWords {
        Vocabulary.requireWords("bow", words);
    }

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
    public List<ParameterSpec> parameters(long channels) {
        return List.of(Vocabulary.unset("words", Role.FITTED, words, channels));
    }

    @Override
    public int fittedTo() {
        return Fitting.USUAL_IMAGES;
    }

    @Override
    public void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
        Vocabulary.fit(maps, parameters.get("words"), random);
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Var codebook = parameters.get("words");
        Fitting.requireFitted("bow", codebook);
        return maps.tape().apply(List.of(maps), () -> {
            Tensor x = maps.value();
            Tensor counts = Reductions.sum(Vocabulary.nearest(x, codebook.value()), 2);
            Tensor shares = Elementwise.mul(Views.reshape(counts, x.size(0), words), 1.0 / x.size(2));
            return Result.of(shares, (g, wanted) -> list(Tensors.zeros(maps.shape(), g.type(), g.device())));
        });
    }
}
