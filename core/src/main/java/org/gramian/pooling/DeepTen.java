package org.gramian.pooling;

import static org.gramian.autodiff.Arithmetic.add;
import static org.gramian.autodiff.Arithmetic.mul;
import static org.gramian.autodiff.Arithmetic.scale;
import static org.gramian.autodiff.Arithmetic.sum;
import static org.gramian.autodiff.Matrices.matmul;

import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * The residual encoding of Deep-TEN: residuals to learned codewords, softly assigned with a learned smoothing each.
 *
 * <p>{@code E_k = Σ_p a_k(x_p) (x_p − c_k)}, {@code a = softmax_k(s_k ‖x − c_k‖²)}, word by word in one vector of {@code
 * K·C} numbers. {@code codewords [K, C]} and {@code smoothing [K]} are trained; {@code s_k} is the negative of the paper's
 * smoothing factor, as in the released code.
 *
 * <p>What differs from the publication: there, codewords and smoothing begin at random, uniform in {@code ±1/√(KC)} and
 * (−1, 0), behind a 1×1 convolution with batch norm that gives features the scale this suits. Here codewords begin with
 * k-means of what enters, and every {@code s_k} with the sharpness at which the second nearest word weighs a hundredth of the
 * nearest on the mean, so that no batch norm is needed before.
 *
 * <p>H. Zhang, J. Xue, K. Dana: Deep TEN: Texture Encoding Network, CVPR 2017, equations (2) to (4).
 *
 * @param words K
 */
public record DeepTen(int words) implements Aggregation {
    static final Words.Rule RULE = new Words.Rule(
            "deepten",
            "deepten:<words>",
            "residuals to codewords with learned smoothing",
            a -> new DeepTen(a.count("words")));

    public DeepTen {
        Vocabulary.requireWords("deepten", words);
    }

    @Override
    public String text() {
        return "deepten:" + words;
    }

    @Override
    public long outputs(long channels) {
        return words * channels;
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return List.of( // decay would pull words off the data
                Vocabulary.unset("codewords", Role.BIAS, words, channels),
                Vocabulary.unset("smoothing", Role.BIAS, words));
    }

    @Override
    public int fittedTo() {
        return Fitting.USUAL_IMAGES;
    }

    @Override
    public void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
        Tensor rows = Vocabulary.sample(maps, random);
        Tensor codewords = Vocabulary.words(rows, words, random);
        double sharpness = Vocabulary.sharpness(rows, codewords);
        parameters.get("codewords").set(Tensors.copy(codewords));
        parameters.get("smoothing").set(Tensors.full(-sharpness, Shape.of(words), maps.type(), maps.device()));
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Var codewords = parameters.get("codewords");
        Fitting.requireFitted("deepten", codewords);
        Var squares = add(sum(mul(maps, maps), 1), sum(mul(codewords, codewords), 1)); // [n, K, N]
        Var distances = add(squares, scale(matmul(codewords, maps), -2));
        Var smoothing = Shapes.reshape(parameters.get("smoothing"), words, 1);
        Var assignments = Vocabulary.softly(mul(distances, smoothing));
        return Vocabulary.flat(Vocabulary.residuals(assignments, maps, codewords));
    }
}
