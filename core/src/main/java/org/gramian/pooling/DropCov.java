package org.gramian.pooling;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.Map;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Classification;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Adaptive channel dropout before covariance pooling, DropCov (Wang, Gao, Zhang, Xie, Li, Hu, "DropCov: A Simple yet
 * Effective Method for Improving Deep Architectures", NeurIPS 2022): {@code [n, C, N]} to {@code [n, C, N]}.
 *
 * <p>Channels are weighted by their importance, {@code X = (1 + ω)∘M} with {@code ω = softmax(w * m)}, a learned
 * convolution {@code weight [3]} along the channels of their means {@code m = mean_p M}, divided by the root mean square
 * of these. In training, channel i of an image becomes 0 with probability ρ, else {@code X_i/(1 − ρ)}:
 *
 * <pre>{@code rho = 1 - 10/log2(C)·cos(ω, π),  π_i = sum_j cov(X)_ij}</pre>
 *
 * clamped to [0, {@value #LARGEST_RATE}]; 0 for one channel. ρ is constant in the backward pass. In prediction nothing is
 * dropped.
 *
 * <p>As in the authors' code, except for what their batch norm does. It keeps maps at unit variance, so that ω is
 * nearly uniform and ρ about ½, averaged over a batch. Here ρ belongs to each image: so it does not depend on the batch
 * that an image is in, nor on the machine that computes its gradient. Means of any size would make ω one-hot and ρ
 * large: hence the division. They clamp to [0, 1]. Covariances grow by 1/(1 − ρ)² in training, and larger weights
 * before lower the cosine: with ρ up to 0.9 the loss became NaN within 22 steps (SqueezeNet, 10 classes of DTD).
 *
 * <p>Training binds {@value #DRAWS} {@code [n, C]}, uniform in [0, 1), which follow from seed, stage, epoch and image.
 *
 * @since 0.1
 */
public record DropCov() implements Reduction {
    /** Name of the random draws among the variables in training. */
    private static final String DRAWS = "draws";

    private static final double LARGEST_RATE = 0.5;
    private static final double SMALLEST_NORM = 1e-12;

    /** Added to the mean square of channel means, so that maps of zeros have equal scores. */
    public static final double SMALLEST_SQUARE = 1e-12;

    private static final int WINDOW = 3;

    static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
            "dropcov", "dropcov", "channels weighted, and in training dropped at random", a -> new DropCov());

    @Override
    public String text() {
        return "dropcov";
    }

    @Override
    public long outputs(long channels) {
        return channels;
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return List.of(new ParameterSpec("weight", Shape.of(WINDOW), Role.WEIGHT, Initializer.gaussian(1)));
    }

    @Override
    public Map<String, Long> randomInputs(long channels) {
        return Map.of(DRAWS, channels);
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Var importance = importance(maps, parameters.get("weight"));
        Var weighted = maps.mul(importance.add(1));
        return parameters
                .find(DRAWS)
                .map(draws -> weighted.mul(factors(weighted, importance, draws)))
                .orElse(weighted);
    }

    /** Computes ω {@code [n, C, 1]}; channels beyond the first and the last count as 0. */
    private static Var importance(Var maps, Var weight) {
        long images = maps.shape().at(0);
        long channels = maps.shape().at(1);
        Var plain = maps.sum(2).mul(1.0 / maps.shape().at(2));
        Var squares = plain.mul(plain).sum(1).mul(1.0 / channels);
        Var means = plain.div(squares.add(SMALLEST_SQUARE).sqrt());
        Var zero = means.slice(1, 0, 1).mul(0);
        Var padded = Var.concat(List.of(zero, means, zero), 1);
        Var scores = zero;
        for (int k = 0; k < WINDOW; k++) {
            Var shifted = padded.slice(1, k, k + channels);
            scores = scores.add(shifted.mul(weight.slice(0, k, k + 1)));
        }
        Var softmax = Classification.softmax(scores.reshape(images, channels));
        return softmax.reshape(images, channels, 1);
    }

    /** Computes 0 or {@code 1/(1 − ρ)} for each channel, {@code [n, C, 1]}, without a gradient. */
    private static Var factors(Var weighted, Var importance, Var draws) {
        return weighted.tape().apply(List.of(), () -> {
            Tensor x = weighted.value();
            Tensor centred = x.addScaled(x.sum(2), -1.0 / x.size(2));
            Tensor relations = centred.matmul(centred.sum(1).transpose()); // N·π
            Tensor cosine = cosine(importance.value(), relations);
            double slope = -10 * Math.log(2) / Math.log((double) Math.max(2, x.size(1)));
            Tensor wanted = cosine.mul(slope).add(1);
            // min(ρ, largest) = −max(−ρ, −largest)
            Tensor rate = wanted.atLeast(0).mul(-1).atLeast(-LARGEST_RATE).mul(-1);
            Tensor kept = rate.mul(-1).add(1).reciprocal();
            Tensor drawn = draws.value().to(x.type()).unsqueeze(2);
            Tensor dropped = rate.greater(drawn); // [n, C, 1]
            Tensor factors = kept.mul(Tensors.full(1, drawn.shape(), x.type(), x.device()));
            Tensor zeros = Tensors.zeros(drawn.shape(), x.type(), x.device());
            return Result.of(Tensors.where(dropped, zeros, factors), (g, needed) -> list());
        });
    }

    /** Computes the cosine of two vectors per image, {@code [n, 1, 1]}. */
    private static Tensor cosine(Tensor a, Tensor b) {
        Tensor squares = a.mul(a).sum(1).mul(b.mul(b).sum(1));
        Tensor norms = squares.sqrt().atLeast(SMALLEST_NORM);
        return a.mul(b).sum(1).div(norms);
    }
}
