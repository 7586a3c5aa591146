package org.gramian.pooling;

import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Matrices;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * NetVLAD: residuals to words, softly assigned by a linear function that is learned apart from the words.
 *
 * <p>{@code V_k = Σ_p ā_k(x_p) (x_p − c_k)}, {@code ā = softmax_k(⟨a_k, x⟩ + b_k)}, each {@code V_k} of length 1
 * (intra-normalization), word by word in one vector of {@code K·C} numbers. The length 1 of the whole, which is part of the
 * published layer, is the normalization {@code l2} after it. With {@code unit=true}, the default and as published, the
 * features of each position have length 1 before anything else.
 *
 * <p>All of {@code assignWeight [K, C]}, {@code assignBias [K]} and {@code centroids [K, C]} are trained. They begin with
 * k-means of training features: {@code a_k = 2αc_k}, {@code b_k = −α‖c_k‖²}, so that assignments are {@code ∝
 * exp(−α‖x − c_k‖²)}. α is taken from the same features: at the mean difference of squared distances, the second nearest
 * word weighs a hundredth of the nearest.
 *
 * <p>R. Arandjelović, P. Gronat, A. Torii, T. Pajdla, J. Sivic: NetVLAD: CNN Architecture for Weakly Supervised Place
 * Recognition, CVPR 2016, equations (3) and (4).
 *
 * @param words K
 * @param unit whether the features of each position are brought to length 1 first
 */
public record NetVlad(int words, boolean unit) implements Aggregation {
    static final Words.Rule RULE = new Words.Rule(
            "netvlad",
            "netvlad:<words>[,unit=true|false]",
            "residuals to learned codewords, soft assignment",
            a -> new NetVlad(a.count("words"), a.flag("unit", true)));

    private static final Bindings NONE = Bindings.of(Map.of());

    public NetVlad {
        Vocabulary.requireWords("netvlad", words);
    }

    @Override
    public String text() {
        return "netvlad:" + words + (unit ? "" : ",unit=false");
    }

    @Override
    public long outputs(long channels) {
        return words * channels;
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return List.of(
                Vocabulary.unset("assignWeight", Role.WEIGHT, words, channels),
                Vocabulary.unset("assignBias", Role.BIAS, words),
                Vocabulary.unset("centroids", Role.BIAS, words, channels)); // decay would pull words off the data
    }

    @Override
    public int fittedTo() {
        return Fitting.USUAL_IMAGES;
    }

    @Override
    public void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
        try (Tape tape = Tape.inference()) {
            Tensor rows = Vocabulary.sample(entering(tape.constant(maps)).value(), random);
            Tensor centroids = Vocabulary.words(rows, words, random);
            double sharpness = Vocabulary.sharpness(rows, centroids);
            Tensor squares = Views.reshape(Reductions.sum(Elementwise.mul(centroids, centroids), 1), words);
            parameters.get("assignWeight").set(Elementwise.mul(centroids, 2 * sharpness));
            parameters.get("assignBias").set(Elementwise.mul(squares, -sharpness));
            parameters.get("centroids").set(Tensors.copy(centroids));
        }
    }

    private Var entering(Var maps) {
        return unit ? Shapes.transpose(new Normalization.L2().apply(Shapes.transpose(maps, 1, 2), NONE), 1, 2) : maps;
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Var weight = parameters.get("assignWeight");
        Fitting.requireFitted("netvlad", weight);
        Var x = entering(maps);
        Var bias = Shapes.reshape(parameters.get("assignBias"), words, 1);
        Var assignments = Vocabulary.softly(Arithmetic.add(Matrices.matmul(weight, x), bias));
        Var residuals = Vocabulary.residuals(assignments, x, parameters.get("centroids"));
        return Vocabulary.flat(new Normalization.L2().apply(residuals, NONE));
    }
}
