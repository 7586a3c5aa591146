package org.gramian.pooling;

import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.cluster.GaussianMixture;
import org.gramian.cluster.GaussianMixture.Mixture;
import org.gramian.tensor.Tensor;

/**
 * Fisher vector: the gradient of the log-likelihood of an image's local features with respect to the parameters of a
 * Gaussian mixture with diagonal covariances.
 *
 * <p>With the posteriors {@code γ_k(x) ∝ w_k N(x; μ_k, diag σ_k²)} of K components,
 *
 * <pre>
 * weights:     1/(N √w_k)  Σ_p (γ_k(x_p) − w_k)                              optional
 * means:       1/(N √w_k)  Σ_p γ_k(x_p) (x_p − μ_k)/σ_k
 * deviations:  1/(N √2w_k) Σ_p γ_k(x_p) ((x_p − μ_k)²/σ_k² − 1)
 * </pre>
 *
 * <p>in this order, {@code d = 2KC} or {@code 2KC + K}, computed from {@code Σγ}, {@code Σγx} and {@code Σγx²} by
 * matrix products. The mixture, {@code weights [K]}, {@code means [K, C]} and {@code deviations [K, C]}, is fitted to
 * training features and not trained; gradients reach the features. The improved Fisher vector is {@code
 * fisher:<K>/root:eps=0/l2}.
 *
 * <p>References: Perronnin, Sánchez, Mensink, "Improving the Fisher Kernel for Large-Scale Image Classification", ECCV
 * 2010; on features of a network: Cimpoi, Maji, Vedaldi, "Deep Filter Banks for Texture Recognition and Segmentation",
 * CVPR 2015.
 *
 * @param components K
 * @param withWeights whether the derivatives with respect to the weights are included
 * @since 0.1
 */
public record FisherVector(int components, boolean withWeights) implements Codebook {
    static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
            "fisher",
            "fisher:<components>[,weights=false|true]",
            "Fisher vector of a Gaussian mixture",
            a -> new FisherVector(a.count("components"), a.flag("weights", false)));

    @Override
    public String text() {
        return "fisher:" + components + (withWeights ? ",weights=true" : "");
    }

    @Override
    public int words() {
        return components;
    }

    @Override
    public long outputs(long channels) {
        return components * (2 * channels + (withWeights ? 1 : 0));
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return List.of(
                Vocabulary.unset("weights", Role.FITTED, components),
                Vocabulary.unset("means", Role.FITTED, components, channels),
                Vocabulary.unset("deviations", Role.FITTED, components, channels));
    }

    @Override
    public void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
        Mixture mixture = GaussianMixture.of(components).fit(Vocabulary.sample(maps, random), random);
        parameters.get("weights").set(Fitting.like(mixture.weights(), maps));
        parameters.get("means").set(Fitting.like(mixture.means(), maps));
        parameters.get("deviations").set(Fitting.like(mixture.deviations(), maps));
    }

    /** Sums over positions: {@code Σγ [n, K, 1]}, {@code Σγx [n, K, C]} and {@code Σγx² [n, K, C]}. */
    private record Sums(Var zeroth, Var first, Var second) {}

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Var weights = parameters.get("weights");
        Fitting.requireFitted("fisher", weights);
        long positions = maps.shape().at(2);
        Var sigma = parameters.get("deviations");
        // with the mean of the mixture at the origin, squares lose fewer digits
        Var centre = weights.reshape(1, components).matmul(parameters.get("means")); // [1, C]
        Var mu = parameters.get("means").sub(centre);
        Var x = maps.sub(centre.reshape(centre.shape().at(1), 1));
        Var variance = sigma.mul(sigma);
        Var column = weights.reshape(components, 1);
        Sums sums = sums(x, new Gaussians(column, mu, variance));
        Var perPosition = column.pow(-0.5).mul(1.0 / positions); // 1/(N√w), [K, 1]
        Var ofMeans = sums.first.sub(sums.zeroth.mul(mu)).mul(perPosition.div(sigma));
        Var spread = sums.second
                .sub(sums.first.mul(mu).mul(2))
                .add(sums.zeroth.mul(mu.mul(mu).sub(variance)));
        Var ofDeviations = spread.mul(perPosition.div(variance).mul(Math.sqrt(0.5)));
        Var both = Var.concat(List.of(Vocabulary.flat(ofMeans), Vocabulary.flat(ofDeviations)), 1);
        if (!withWeights) {
            return both;
        }
        Var ofWeights = sums.zeroth.sub(column.mul((double) positions)).mul(perPosition);
        return Var.concat(List.of(Vocabulary.flat(ofWeights), both), 1);
    }

    /** Mixture with its mean at the origin: {@code w [K, 1]}, {@code μ [K, C]}, {@code σ² [K, C]}. */
    private record Gaussians(Var weights, Var means, Var variances) {
        /** Computes {@code log w_k + log N(x; μ_k, σ_k²)} up to a constant, {@code [n, K, N]}. */
        Var scores(Var x, Var squares) {
            Var precision = variances.pow(-1);
            Var linear = means.mul(precision);
            Var constant = weights.log()
                    .sub(variances.log().add(means.mul(linear)).sum(1).mul(0.5));
            return linear.matmul(x).sub(precision.matmul(squares).mul(0.5)).add(constant);
        }
    }

    private static Sums sums(Var x, Gaussians mixture) {
        Var squares = x.mul(x);
        Var posteriors = Vocabulary.softmax(mixture.scores(x, squares));
        return new Sums(
                posteriors.sum(2), posteriors.matmul(x.transpose(1, 2)), posteriors.matmul(squares.transpose(1, 2)));
    }
}
