package org.gramian.spd;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.CachedCheck;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Gaussian (RBF) kernel of the paper, {@code K_ij = exp(−‖f_i − f_j‖² / 2σ²) + εδ_ij}, over feature maps {@code M [n,
 * C, N]}.
 *
 * <p>K has a unit diagonal before the jitter and is positive definite if all maps differ. Equal maps, such as two dead
 * channels, make it singular; the jitter restores definiteness.
 *
 * <p>Backward, with {@code G = dL/dK∘K/(−2σ²)} and {@code T = G + Gᵀ}: {@code dL/dM = 2(rowsum(T)∘M − TM)}. If σ has a
 * gradient, {@code dL/dσ = Σ dL/dK∘K∘D/σ³}, and through the mean distance {@code dσ/dM = 2(rowsum(U)∘M − UM)/(C(C−1))}
 * with {@code U_ij = 1/d_ij}, or 0 where {@code d_ij = 0}. The paper prints {@code dL/dM = 4(rowsum(G)∘M − GM)}, which
 * is equal only for a symmetric {@code dL/dK}.
 *
 * @param sigma choice of the width σ
 * @param jitter ε
 * @param backward the derivative, or the printed formula with the factor 4
 * @since 0.1
 */
public record Rbf(Sigma sigma, double jitter, Backward backward) implements Kernel {
    /** Keeps K invertible in float32 with dead channels. */
    public static final double DEFAULT_JITTER = 1e-4;

    private static final CachedCheck POSITIVE = new CachedCheck(sigma -> sigma.item() > 0);

    /** Initial log σ of a learned width. The best start depends on the data, so {@code estimate} is often better. */
    private static final double INITIAL_LOG_SIGMA = Math.log(10);

    public Rbf {
        Kernel.requireJitter(jitter);
    }

    /**
     * Creates a kernel whose backward pass is the derivative.
     *
     * @param sigma choice of the width σ
     * @param jitter ε
     */
    public Rbf(Sigma sigma, double jitter) {
        this(sigma, jitter, Backward.EXACT);
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return switch (sigma) {
            case Sigma.Learned _ -> List.of(width("logSigma", Role.BIAS, INITIAL_LOG_SIGMA));
            case Sigma.Estimate _ -> List.of(width("sigma", Role.FITTED, Double.NaN));
            default -> List.of();
        };
    }

    private static ParameterSpec width(String name, Role role, double initial) {
        return new ParameterSpec(name, Shape.of(1), role, Initializer.constant(initial));
    }

    /**
     * Computes the mean distance of different maps over a batch, the fitted value of {@link Sigma.Estimate}.
     *
     * @param maps M {@code [n, C, N]}
     */
    public static double meanDistance(Tensor maps) {
        try (Scope _ = Scope.open()) {
            Tensor d = SquaredDistances.squaredAboveRounding(SquaredDistances.centred(maps))
                    .sqrt();
            return Math.max(
                    Sigma.SMALLEST, SquaredDistances.meanOverPairs(d).mean().item());
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

    /**
     * Returns the width σ of all images, NaN if each image has its own mean distance.
     *
     * @throws IllegalArgumentException if the width has a gradient
     */
    public double width(Bindings parameters) {
        return switch (sigma) {
            case Sigma.Mean _ -> Double.NaN;
            case Sigma.Fixed fixed -> fixed.value();
            case Sigma.Estimate _ -> Math.max(fitted(parameters.get("sigma")).item(), Sigma.SMALLEST);
            case Sigma.MeanFull _, Sigma.Learned _ ->
                throw new IllegalArgumentException("the width of this kernel has a gradient: " + sigma);
        };
    }

    /** Returns whether the width is a constant for the gradient. */
    public boolean hasConstantWidth() {
        return sigma instanceof Sigma.Mean || sigma instanceof Sigma.Fixed || sigma instanceof Sigma.Estimate;
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
        return sigma.value().reshape(1, 1, 1);
    }

    /** Returns a constant σ that does not depend on the image as {@code −1/2σ²}, or null for {@link Sigma.Mean}. */
    public @Nullable Tensor constantFactor(Tensor maps, Bindings parameters) {
        return switch (sigma) {
            case Sigma.Fixed fixed -> factor(floored(number(maps, fixed.value())));
            case Sigma.Estimate _ -> factor(floored(fitted(parameters.get("sigma"))));
            default -> null;
        };
    }

    /** Uses a given σ, or the mean distance if it is null; constant for the gradient in both cases. */
    private Result constantWidth(Tensor maps, @Nullable Tensor given) {
        Tensor x = SquaredDistances.centred(maps);
        Tensor d = given == null ? SquaredDistances.squaredAboveRounding(x) : SquaredDistances.squared(x);
        Tensor width = floored(given == null ? SquaredDistances.meanOverPairs(d.sqrt()) : given);
        Tensor factor = factor(width);
        Tensor k = kernel(d, factor);
        return Result.of(
                k, (g, wanted) -> list(SquaredDistances.backward(scaled(g, k, factor), x, backward)), x, factor);
    }

    private Result meanWidth(Tensor maps) {
        Tensor x = SquaredDistances.centred(maps);
        Tensor squares = SquaredDistances.squaredOrZero(x);
        Tensor d = squares.sqrt();
        Tensor width = floored(SquaredDistances.meanOverPairs(d));
        Tensor factor = factor(width);
        Tensor k = kernel(squares.copy(), factor);
        double pairs = (double) maps.size(1) * (maps.size(1) - 1);
        return Result.of(
                k,
                (g, wanted) -> {
                    Tensor gk = g.mul(k);
                    // dσ/dD_ij = 1/(2 d_ij C(C−1)), so both ways to D meet in one P = dL/dD
                    Tensor ofWidth = gk.mul(squares).sum(1, 2).div(width.pow(3));
                    Tensor throughWidth = SquaredDistances.inverseOrZero(d)
                            .mul(aboveFloor(ofWidth, width).mul(0.5 / pairs));
                    Tensor p = gk.mul(factor).add(throughWidth);
                    return list(SquaredDistances.backward(p, x, backward));
                },
                x,
                squares,
                d,
                width,
                factor);
    }

    private Result learnedWidth(Tensor maps, Tensor logSigma) {
        Tensor x = SquaredDistances.centred(maps);
        Tensor squares = SquaredDistances.squared(x);
        Tensor width = floored(logSigma.exp().reshape(1, 1, 1));
        Tensor factor = factor(width);
        Tensor k = kernel(squares.copy(), factor);
        return Result.of(
                k,
                (g, wanted) -> {
                    Tensor p = scaled(g, k, factor);
                    // dL/dlogσ = σ·Σ g∘K∘D/σ³ = −2·Σ P∘D
                    Tensor ofLog = p.mul(squares).sum(0, 1, 2).mul(-2);
                    return list(
                            SquaredDistances.backward(p, x, backward),
                            aboveFloor(ofLog, width).reshape(1));
                },
                x,
                squares,
                width,
                factor);
    }

    private static Tensor floored(Tensor width) {
        return width.atLeast(Sigma.SMALLEST);
    }

    /** Returns the gradient of the width, 0 where the width is clamped to its floor. */
    private static Tensor aboveFloor(Tensor gradient, Tensor width) {
        return Tensors.where(width.greater(Sigma.SMALLEST), gradient, 0);
    }

    /** Computes {@code −1/2σ²}. */
    private static Tensor factor(Tensor width) {
        return width.pow(-2).mul(-0.5);
    }

    /** Computes {@code exp(factor·D) + εI} in the memory of D. */
    private Tensor kernel(Tensor squares, Tensor factor) {
        squares.mulInPlace(factor).expInPlace();
        squares.diagonal().fill(1 + jitter);
        return squares;
    }

    /** Computes {@code dL/dD = factor·g∘K}; the diagonal cancels in {@code SquaredDistances.backward}. */
    private static Tensor scaled(Tensor g, Tensor k, Tensor factor) {
        return g.mul(k).mulInPlace(factor);
    }

    /** Choice of the width σ of the {@link Rbf} kernel. */
    public sealed interface Sigma {
        /** Lower bound of σ: with only dead channels the mean distance is 0. */
        double SMALLEST = 1e-6;

        /** Per image the mean distance of its maps, a constant for the gradient: the paper as written. */
        record Mean() implements Sigma {}

        /** Per image the mean distance of its maps, with the gradient flowing through it: K does not depend on scale. */
        record MeanFull() implements Sigma {}

        /** Mean distance over up to 500 training images, then frozen and stored with the model. */
        record Estimate() implements Sigma {}

        /** A parameter: {@code log σ} is trained. */
        record Learned() implements Sigma {}

        /** One number for all; the authors' released code uses 50. */
        record Fixed(double value) implements Sigma {
            public Fixed {
                if (!(value >= SMALLEST) || Double.isInfinite(value)) {
                    throw new IllegalArgumentException(
                            "sigma must be a number of at least " + SMALLEST + ", found " + value);
                }
            }
        }
    }

    /** Backward formula of a layer, where the one printed in the paper is not the derivative. */
    public enum Backward {
        /** The derivative, for any upstream gradient. */
        EXACT,
        /** The formula of the paper, to reproduce it; {@link Rbf} and {@code docs/mathematics.md} describe how it deviates. */
        PRINTED
    }
}
