package org.gramian.spd;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.spd.Rbf.Backward;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Kernel between feature maps: {@code M [n, C, N]} to symmetric matrices {@code K [n, C, C]}, {@code K_ij = k(f_i,
 * f_j)}.
 *
 * <p>Adjoints hold for any upstream gradient, symmetric or not.
 *
 * @since 0.1
 */
public sealed interface Kernel extends Layer
        permits Rbf,
                Democratic,
                KernelSum,
                Kernel.Laplacian,
                Kernel.Polynomial,
                Kernel.Covariance,
                Kernel.Bilinear,
                Kernel.Gaussian {
    /** Maps count as equal if their squared distance is below this many rounding errors of their squared norms. */
    double EQUALITY_MARGIN = 16;

    /** Returns ε, added to the diagonal so that equal maps do not make K singular. */
    double jitter();

    /**
     * Returns the number of rows of K.
     *
     * @param channels number of maps C
     */
    default long size(long channels) {
        return channels;
    }

    /** Returns the kernels that this one is made of: itself, unless it is a {@link KernelSum}. */
    default List<Kernel> factors() {
        return List.of(this);
    }

    /** Checks that second-order statistics of the maps are defined. */
    static void requireMaps(String kernel, Var maps) {
        if (maps.shape().rank() != 3) {
            throw new IllegalArgumentException(
                    kernel + ": expected feature maps [n, channels, positions], found " + maps.value());
        }
        if (maps.shape().at(1) < 2) {
            throw new IllegalArgumentException(kernel + ": expected at least 2 channels, found "
                    + maps.shape().at(1) + " in " + maps.value());
        }
        if (maps.shape().at(2) < 2) {
            throw new IllegalArgumentException(kernel + ": expected at least 2 positions (height times width), found "
                    + maps.shape().at(2) + " in " + maps.value() + "; use an earlier layer of the backbone");
        }
    }

    /** Checks that the jitter keeps K positive definite. */
    static void requireJitter(double jitter) {
        if (!(jitter >= 0) || Double.isInfinite(jitter)) {
            throw new IllegalArgumentException("jitter must be a number of at least 0, found " + jitter);
        }
    }

    /**
     * Bilinear kernel of B-CNN, {@code K = MMᵀ/N + εI} (Lin, RoyChowdhury, Maji, "Bilinear CNN Models for Fine-grained
     * Visual Recognition", ICCV 2015).
     *
     * @param jitter ε
     */
    record Bilinear(double jitter) implements Kernel {
        public Bilinear {
            Kernel.requireJitter(jitter);
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Kernel.requireMaps("bilinear", maps);
            double factor = 1.0 / maps.shape().at(2);
            return maps.tape().apply(List.of(maps), () -> {
                Tensor k = Gram.of(maps.value(), factor, jitter);
                return Result.of(k, (g, wanted) -> list(Gram.backward(g, maps.value(), factor)));
            });
        }
    }

    /**
     * Unbiased covariance of the maps, {@code Σ_ij = ⟨f̄_i, f̄_j⟩/(N−1)} with {@code f̄_i = f_i − mean(f_i)} over N
     * positions, shrunk towards a multiple of the identity: {@code K = (1−a)Σ + a·tr(Σ)/C·I + εI}.
     *
     * <p>Σ has rank N−1 at most. Shrinkage keeps the trace and raises zero eigenvalues (Ledoit, Wolf, "A
     * Well-conditioned Estimator for Large-dimensional Covariance Matrices", Journal of Multivariate Analysis 88,
     * 2004). It is self-adjoint: {@code dL/dΣ = (1−a)G + a·tr(G)/C·I}.
     *
     * @param jitter ε
     * @param shrinkage a, from 0 (none) to 1 (only the trace remains)
     */
    record Covariance(double jitter, double shrinkage) implements Kernel {
        public Covariance {
            Kernel.requireJitter(jitter);
            if (!(shrinkage >= 0 && shrinkage <= 1)) {
                throw new IllegalArgumentException("shrinkage must be a number from 0 to 1, found " + shrinkage);
            }
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Kernel.requireMaps("covariance", maps);
            double factor = 1.0 / (maps.shape().at(2) - 1);
            return maps.tape().apply(List.of(maps), () -> {
                Tensor x = centred(maps.value());
                Tensor covariance = shrunk(Gram.of(x, factor, 0));
                return Result.of(
                        Gram.withJitter(covariance, jitter),
                        // centring is a projection: its adjoint centres again
                        (g, wanted) -> list(centred(Gram.backward(shrinkage == 0 ? g : shrunk(g.copy()), x, factor))),
                        x);
            });
        }

        /** Computes {@code (1−a)S + a·tr(S)/C·I} in place. */
        private Tensor shrunk(Tensor matrices) {
            if (shrinkage > 0) {
                Tensor trace = matrices.diagonal().sum(1);
                matrices.mulInPlace(1 - shrinkage);
                Tensor diagonal = matrices.diagonal();
                diagonal.copyFrom(diagonal.addScaled(trace, shrinkage / matrices.size(1)));
            }
            return matrices;
        }

        private static Tensor centred(Tensor maps) {
            return maps.addScaled(maps.sum(2), -1.0 / maps.size(2));
        }
    }

    /**
     * Gaussian embedding of the positions, {@code K = [[Σ + μμᵀ, μ], [μᵀ, 1]] + εI} of size C+1, with the mean μ over
     * positions and the covariance Σ with denominator N.
     *
     * <p>K is {@code AAᵀ/N} for {@code A = [M; 1]}, the maps {@code M [n, C, N]} with a row of ones. Backward: {@code
     * dL/dM} is {@code (G + Gᵀ)A/N} without its last row. Reference: Wang, Li, Zhang, "G2DeNet: Global Gaussian
     * Distribution Embedding Network", CVPR 2017.
     *
     * @param jitter ε
     */
    record Gaussian(double jitter) implements Kernel {
        public Gaussian {
            Kernel.requireJitter(jitter);
        }

        @Override
        public long size(long channels) {
            return channels + 1;
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Kernel.requireMaps("gaussian", maps);
            double factor = 1.0 / maps.shape().at(2);
            return maps.tape().apply(List.of(maps), () -> {
                Tensor m = maps.value();
                Tensor ones = Tensors.full(1, Shape.of(m.size(0), 1, m.size(2)), m.type(), m.device());
                Tensor a = Tensors.concat(List.of(m, ones), 1);
                return Result.of(
                        Gram.of(a, factor, jitter),
                        (g, wanted) -> list(Gram.backward(g, a, factor).slice(1, 0, m.size(1))),
                        a);
            });
        }
    }

    /**
     * Laplacian (exponential) kernel, {@code K_ij = exp(−‖f_i − f_j‖/σ)}, plus {@code εI}.
     *
     * <p>{@code dL/dD_ij = −g_ij K_ij/(2σ d_ij)}, and 0 where the maps are equal.
     *
     * @param sigma width
     * @param jitter ε
     */
    record Laplacian(double sigma, double jitter) implements Kernel {
        public Laplacian {
            new Sigma.Fixed(sigma);
            Kernel.requireJitter(jitter);
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Kernel.requireMaps("laplacian", maps);
            return maps.tape().apply(List.of(maps), () -> {
                Tensor x = SquaredDistances.centred(maps.value());
                Tensor d = SquaredDistances.squaredOrZero(x).sqrtInPlace();
                Tensor k = d.mul(-1 / sigma).expInPlace();
                k.diagonal().fill(1 + jitter);
                return Result.of(
                        k,
                        (g, wanted) -> {
                            Tensor p = g.mul(k).mul(SquaredDistances.inverseOrZero(d));
                            return list(SquaredDistances.backward(p.mulInPlace(-0.5 / sigma), x, Backward.EXACT));
                        },
                        x,
                        d);
            });
        }
    }

    /**
     * Polynomial kernel, {@code K_ij = (a⟨f_i, f_j⟩ + b)^p}, plus {@code εI}; {@code dL/d⟨f_i, f_j⟩ =
     * g_ij·a·p·(a⟨f_i, f_j⟩ + b)^(p−1)}.
     *
     * @param degree p
     * @param scale a
     * @param offset b
     * @param jitter ε
     */
    record Polynomial(int degree, double scale, double offset, double jitter) implements Kernel {
        public Polynomial {
            if (degree < 1 || !(scale > 0) || !(offset >= 0) || Double.isInfinite(scale + offset)) {
                throw new IllegalArgumentException("a polynomial kernel needs degree >= 1, scale > 0 and offset >= 0,"
                        + " found degree " + degree + ", scale " + scale + ", offset " + offset);
            }
            Kernel.requireJitter(jitter);
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Kernel.requireMaps("polynomial", maps);
            return maps.tape().apply(List.of(maps), () -> {
                Tensor m = maps.value();
                Tensor gram = m.matmul(m.transpose());
                Tensor base = gram.mulInPlace(scale).add(offset);
                Tensor k = Gram.withJitter(base.pow(degree), jitter);
                return Result.of(
                        k,
                        (g, wanted) -> {
                            Tensor slope = base.pow(degree - 1).mulInPlace(degree * scale);
                            return list(Gram.backward(g.mul(slope), m, 1));
                        },
                        base);
            });
        }
    }
}
