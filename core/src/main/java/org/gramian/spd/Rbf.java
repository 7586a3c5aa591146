package org.gramian.spd;

import static org.gramian.autodiff.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.CachedCheck;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/**
 * The Gaussian kernel of the paper, {@code K_ij = exp(−‖f_i − f_j‖² / 2σ²)}, plus {@code εI}.
 *
 * <p>{@code K} has a unit diagonal before the jitter and is positive definite when all maps differ; equal maps (two dead
 * channels, say) make it singular, which the jitter mends. Backward, for {@code G = dL/dK∘K/(−2σ²)}, {@code T = G + Gᵀ}:
 * {@code dL/dM = 2(rowsum(T)∘M − TM)}. Where σ takes part, {@code dL/dσ = Σ dL/dK∘K∘D/σ³}, and through the mean
 * distance {@code dσ/dM = 2(rowsum(U)∘M − UM)/(C(C−1))}, {@code U_ij = 1/d_ij} or 0 where {@code d_ij = 0}. The paper
 * prints {@code dL/dM = 4(rowsum(G)∘M − GM)}, which is the same for a symmetric {@code dL/dK} alone.
 *
 * @param sigma how the width is chosen
 * @param jitter ε
 * @param backward the derivative, or the formula with the factor 4
 */
public record Rbf(Sigma sigma, double jitter, Backward backward) implements Kernel {
    /** Enough to keep K invertible in single precision beside dead channels. */
    public static final double DEFAULT_JITTER = 1e-4;

    private static final CachedCheck POSITIVE = new CachedCheck(sigma -> sigma.item() > 0);

    /** The learned width starts here; it is data-dependent, so {@code estimate} is often the better start. */
    private static final double INITIAL_LOG_SIGMA = Math.log(10);

    public Rbf {
        Kernel.requireJitter(jitter);
    }

    /** With the derivative on the way back. */
    public Rbf(Sigma sigma, double jitter) {
        this(sigma, jitter, Backward.EXACT);
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return switch (sigma) {
            case Sigma.Learned l ->
                List.of(new ParameterSpec(
                        "logSigma",
                        Shape.of(1),
                        Role.BIAS,
                        (random, shape, type) -> Tensors.of(new double[] {INITIAL_LOG_SIGMA}, shape, type)));
            case Sigma.Estimate e ->
                List.of(new ParameterSpec(
                        "sigma",
                        Shape.of(1),
                        Role.FITTED,
                        (random, shape, type) -> Tensors.of(new double[] {Double.NaN}, shape, type)));
            default -> List.of();
        };
    }

    /** The mean distance of different maps over a batch, to which {@link Sigma.Estimate} is fitted. */
    public static double meanDistance(Tensor maps) {
        try (Scope _ = Scope.open()) {
            Tensor d = Elementwise.sqrt(Distances.squaredAboveRounding(Distances.centred(maps)));
            return Math.max(
                    Sigma.SMALLEST, Reductions.mean(Distances.meanOverPairs(d)).item());
        }
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Kernel.requireMaps("rbf", maps);
        List<Var> inputs = new ArrayList<>(List.of(maps));
        if (sigma instanceof Sigma.Learned) {
            inputs.add(parameters.get("logSigma"));
        }
        return maps.tape().apply(inputs, () -> switch (sigma) {
            case Sigma.Mean m -> constantWidth(maps.value(), null);
            case Sigma.Fixed fixed -> constantWidth(maps.value(), number(maps.value(), fixed.value()));
            case Sigma.Estimate e -> constantWidth(maps.value(), fitted(parameters.get("sigma")));
            case Sigma.MeanFull m -> meanWidth(maps.value());
            case Sigma.Learned l -> learnedWidth(maps.value(), inputs.get(1).value());
        });
    }

    private static Tensor number(Tensor like, double value) {
        return Tensors.full(value, Shape.of(1, 1, 1), like.type(), like.device());
    }

    private static Tensor fitted(Var sigma) {
        if (!POSITIVE.holds(sigma.value())) {
            throw new IllegalStateException(
                    "rbf:sigma=estimate has not been fitted to training features yet; its sigma is "
                            + sigma.value().item());
        }
        return Views.reshape(sigma.value(), 1, 1, 1);
    }

    /** σ given, or the mean distance where it is null; a constant for the gradient either way. */
    private Result constantWidth(Tensor maps, @Nullable Tensor given) {
        if (backward == Backward.EXACT && GaussianKernels.suit(maps)) {
            return GaussianKernels.apply(maps, given == null ? null : factor(floored(given)), 1 + jitter);
        }
        Tensor x = Distances.centred(maps);
        Tensor d = given == null ? Distances.squaredAboveRounding(x) : Distances.squared(x);
        Tensor width = floored(given == null ? Distances.meanOverPairs(Elementwise.sqrt(d)) : given);
        Tensor factor = factor(width);
        Tensor k = kernel(d, factor);
        return Result.of(k, (g, wanted) -> list(Distances.backward(scaled(g, k, factor), x, backward)), x, factor);
    }

    private Result meanWidth(Tensor maps) {
        Tensor x = Distances.centred(maps);
        Tensor squares = Distances.squaredOrZero(x);
        Tensor d = Elementwise.sqrt(squares);
        Tensor width = floored(Distances.meanOverPairs(d));
        Tensor factor = factor(width);
        Tensor k = kernel(Tensors.copy(squares), factor);
        double pairs = (double) maps.size(1) * (maps.size(1) - 1);
        return Result.of(
                k,
                (g, wanted) -> {
                    Tensor gk = Elementwise.mul(g, k);
                    // dσ/dD_ij = 1/(2 d_ij C(C−1)), so both ways to D meet in one P = dL/dD
                    Tensor ofWidth = Elementwise.div(
                            Reductions.sum(Elementwise.mul(gk, squares), 1, 2), Elementwise.pow(width, 3));
                    Tensor throughWidth = Elementwise.mul(
                            Distances.inverseOrZero(d), Elementwise.mul(aboveFloor(ofWidth, width), 0.5 / pairs));
                    Tensor p = Elementwise.add(Elementwise.mul(gk, factor), throughWidth);
                    return list(Distances.backward(p, x, backward));
                },
                x,
                squares,
                d,
                width,
                factor);
    }

    private Result learnedWidth(Tensor maps, Tensor logSigma) {
        Tensor x = Distances.centred(maps);
        Tensor squares = Distances.squared(x);
        Tensor width = floored(Views.reshape(Elementwise.exp(logSigma), 1, 1, 1));
        Tensor factor = factor(width);
        Tensor k = kernel(Tensors.copy(squares), factor);
        return Result.of(
                k,
                (g, wanted) -> {
                    Tensor p = scaled(g, k, factor);
                    // dL/dlogσ = σ·Σ g∘K∘D/σ³ = −2·Σ P∘D
                    Tensor ofLog = Elementwise.mul(Reductions.sum(Elementwise.mul(p, squares), 0, 1, 2), -2);
                    return list(Distances.backward(p, x, backward), Views.reshape(aboveFloor(ofLog, width), 1));
                },
                x,
                squares,
                width,
                factor);
    }

    private static Tensor floored(Tensor width) {
        return Elementwise.atLeast(width, Sigma.SMALLEST);
    }

    /** A gradient of the width, 0 where the floor holds it. */
    private static Tensor aboveFloor(Tensor gradient, Tensor width) {
        return Elementwise.where(Elementwise.greater(width, Sigma.SMALLEST), gradient, 0);
    }

    /** {@code −1/2σ²}. */
    private static Tensor factor(Tensor width) {
        return Elementwise.mul(Elementwise.pow(width, -2), -0.5);
    }

    /** {@code exp(factor·D) + εI}, in the memory of D. */
    private Tensor kernel(Tensor squares, Tensor factor) {
        Elementwise.expInPlace(Elementwise.mulInPlace(squares, factor));
        Tensors.fill(Views.diagonal(squares), 1 + jitter);
        return squares;
    }

    /** {@code dL/dD = factor·g∘K}; the diagonal, jitter or not, drops out of {@link Distances#backward}. */
    private static Tensor scaled(Tensor g, Tensor k, Tensor factor) {
        return Elementwise.mulInPlace(Elementwise.mul(g, k), factor);
    }
}
