package org.gramian.pooling;

import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Tensor;

/**
 * VLAD: for each word, the sum of residuals of the positions that are nearest to it.
 *
 * <p>{@code V_k = Σ_{p: NN(x_p) = k} (x_p − c_k)}, each of length 1 with {@code intra=true}, the default, word by word in
 * one vector of {@code K·C} numbers. The {@code words [K, C]} are fitted by k-means and not trained. The gradient is that of
 * the residuals: which word is nearest counts as constant, as it is almost everywhere.
 *
 * <p>H. Jégou, M. Douze, C. Schmid, P. Pérez: Aggregating Local Descriptors into a Compact Image Representation, CVPR 2010;
 * intra-normalization: R. Arandjelović, A. Zisserman: All about VLAD, CVPR 2013.
 *
 * @param words K
 * @param intra whether the residuals of each word are brought to length 1
 */
public record Vlad(int words, boolean intra) implements Aggregation {
    static final Words.Rule RULE = new Words.Rule(
            "vlad",
            "vlad:<words>[,intra=true|false]",
            "residuals to the nearest codewords",
            a -> new Vlad(a.count("words"), a.flag("intra", true)));

    public Vlad {
        Vocabulary.requireWords("vlad", words);
    }

    @Override
    public String text() {
        return "vlad:" + words + (intra ? "" : ",intra=false");
    }

    @Override
    public long outputs(long channels) {
        return words * channels;
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
        Fitting.requireFitted("vlad", codebook);
        Var residuals = Vocabulary.residuals(Vocabulary.nearest(maps, codebook), maps, codebook);
        Var encoded = intra ? new Normalization.L2().apply(residuals, Bindings.of(Map.of())) : residuals;
        return Vocabulary.flat(encoded);
    }
}
