package org.gramian.pooling;

import static org.gramian.autodiff.Arithmetic.add;
import static org.gramian.autodiff.Arithmetic.div;
import static org.gramian.autodiff.Arithmetic.log;
import static org.gramian.autodiff.Arithmetic.mul;
import static org.gramian.autodiff.Arithmetic.pow;
import static org.gramian.autodiff.Arithmetic.scale;
import static org.gramian.autodiff.Arithmetic.sub;
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
import org.gramian.cluster.GaussianMixture;
import org.gramian.cluster.Mixture;
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
 */
public record FisherVector(int components, boolean withWeights) implements Codebook {
    static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
            "fisher",
            "fisher:<components>[,weights=false|true]",
            "Fisher vector of a Gaussian mixture",
            a -> new FisherVector(a.count("components"), a.flag("weights", false)));

    public FisherVector {
        Vocabulary.requireWords("fisher", components);
    }

    @Override
    public String text() {
        return "fisher:" + components + (withWeights ? ",weights=true" : "");
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
        Var centre = matmul(Shapes.reshape(weights, 1, components), parameters.get("means")); // [1, C]
        Var mu = sub(parameters.get("means"), centre);
        Var x = sub(maps, Shapes.reshape(centre, centre.shape().at(1), 1));
        Var variance = mul(sigma, sigma);
        Var column = Shapes.reshape(weights, components, 1);
        Sums sums = sums(x, new Gaussians(column, mu, variance));
        Var perPosition = scale(pow(column, -0.5), 1.0 / positions); // 1/(N√w), [K, 1]
        Var ofMeans = mul(sub(sums.first, mul(sums.zeroth, mu)), div(perPosition, sigma));
        Var spread = add(sub(sums.second, scale(mul(sums.first, mu), 2)), mul(sums.zeroth, sub(mul(mu, mu), variance)));
        Var ofDeviations = mul(spread, scale(div(perPosition, variance), Math.sqrt(0.5)));
        Var both = Shapes.concat(List.of(Vocabulary.flat(ofMeans), Vocabulary.flat(ofDeviations)), 1);
        if (!withWeights) {
            return both;
        }
        Var ofWeights = mul(sub(sums.zeroth, scale(column, (double) positions)), perPosition);
        return Shapes.concat(List.of(Vocabulary.flat(ofWeights), both), 1);
    }

    /** Mixture with its mean at the origin: {@code w [K, 1]}, {@code μ [K, C]}, {@code σ² [K, C]}. */
    private record Gaussians(Var weights, Var means, Var variances) {
        /** Computes {@code log w_k + log N(x; μ_k, σ_k²)} up to a constant, {@code [n, K, N]}. */
        Var scores(Var x, Var squares) {
            Var precision = pow(variances, -1);
            Var linear = mul(means, precision);
            Var constant = sub(log(weights), scale(sum(add(log(variances), mul(means, linear)), 1), 0.5));
            return add(sub(matmul(linear, x), scale(matmul(precision, squares), 0.5)), constant);
        }
    }

    private static Sums sums(Var x, Gaussians mixture) {
        Var squares = mul(x, x);
        Var posteriors = Vocabulary.softmax(mixture.scores(x, squares));
        return new Sums(
                sum(posteriors, 2),
                matmul(posteriors, Shapes.transpose(x, 1, 2)),
                matmul(posteriors, Shapes.transpose(squares, 1, 2)));
    }
}
