package org.gramian.pooling;

import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.basis.EnumWords;
import org.gramian.spd.SpectralFunction;
import org.gramian.spd.layer.Barycenter;
import org.gramian.spd.layer.NewtonSchulz;
import org.gramian.spd.layer.SparseInverse;
import org.gramian.spd.layer.SpdTransform;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/**
 * Transform of symmetric matrices: {@code [n, C, C]} to {@code [n, C', C']}.
 *
 * @since 0.1
 */
public sealed interface Transform extends PoolingStage
        permits Transform.Spd,
                Transform.Relu,
                Transform.Spectrum,
                Transform.Isqrt,
                Transform.Isice,
                Transform.RiemannianNorm,
                Transform.Free {
    @Override
    default String kind() {
        return "transform";
    }

    @Override
    default long outputs(long channels) {
        return channels;
    }

    /** Initialization of W in {@link Spd}. */
    enum Start {
        /** Q factor of a Gaussian matrix: a random point of the manifold. */
        ORTHONORMAL,
        /** Uniform Xavier values, off the manifold until the first step, as in the authors' code; square W only. */
        XAVIER
    }

    /**
     * SPD transformation of the paper, {@code Y = WᵀKW}, with the parameter {@code weight [C, C']} with orthonormal
     * columns.
     *
     * @param size C'
     * @param start initialization of W
     */
    record Spd(int size, Start start) implements Transform {
        @Override
        public String text() {
            return "spd:" + size + (start == Start.ORTHONORMAL ? "" : ",init=" + EnumWords.text(start));
        }

        @Override
        public long outputs(long channels) {
            if (size > channels) {
                throw new IllegalArgumentException("spd:" + size + " cannot follow matrices of size " + channels
                        + ": C' must not exceed C; the largest that fits is spd:" + channels);
            }
            if (start == Start.XAVIER && size != channels) {
                throw new IllegalArgumentException(text() + " cannot follow matrices of size " + channels
                        + ": the authors' code, which uses this initialization, supports only C' = C; write spd:"
                        + channels
                        + ", or spd:" + size + ",init=" + EnumWords.text(Start.ORTHONORMAL));
            }
            return size;
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            Initializer first = switch (start) {
                case ORTHONORMAL -> Stiefel::random;
                case XAVIER -> Stiefel::xavier;
            };
            return List.of(new ParameterSpec("weight", Shape.of(channels, outputs(channels)), Role.STIEFEL, first));
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            return SpdTransform.apply(matrices, parameters.get("weight"));
        }
    }

    /**
     * Element-wise {@code max(Y_ij, 0)}, as in the paper. Its Theorem 4, that this keeps matrices positive definite, is
     * false from 4×4 on.
     */
    record Relu() implements Transform {
        @Override
        public String text() {
            return "relu";
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            return matrices.relu();
        }
    }

    /** Function of the eigenvalues. */
    record Spectrum(SpectralFunction function) implements Transform {
        @Override
        public String text() {
            return switch (function) {
                case SpectralFunction.ReEig reeig -> "reeig:" + StageRegistry.number(reeig.floor());
                case SpectralFunction.Log log -> "log" + floor(":", log.floor());
                case SpectralFunction.Power power when power.exponent() == 0.5 -> "sqrt" + floor(":", power.floor());
                case SpectralFunction.Power power ->
                    "power:" + StageRegistry.number(power.exponent()) + floor(",", power.floor());
            };
        }

        private static String floor(String before, double floor) {
            return floor == SpectralFunction.DEFAULT_FLOOR ? "" : before + "floor=" + StageRegistry.number(floor);
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            return function.apply(matrices);
        }
    }

    /** Square root by Newton–Schulz iteration, see {@link org.gramian.spd.layer.NewtonSchulz}. */
    record Isqrt(int iterations) implements Transform {
        /** Value of the method's authors. */
        static final int DEFAULT_ITERATIONS = 5;

        public Isqrt {
            if (iterations < 1) {
                throw new IllegalArgumentException("isqrt: expected at least 1 iteration, found " + iterations);
            }
        }

        @Override
        public String text() {
            return "isqrt:" + iterations;
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            return NewtonSchulz.squareRoot(matrices, iterations);
        }
    }

    /**
     * Sparse inverse covariance, iSICE, see {@link SparseInverse}.
     *
     * @param iterations number of steps as published, at least 2
     * @param sparsity λ, weight of the l1 norm
     * @param rate size of the first step
     */
    record Isice(int iterations, double sparsity, double rate) implements Transform {
        private static final int DEFAULT_ITERATIONS = 5; // all three as in the authors' code
        private static final double DEFAULT_SPARSITY = 0.01;
        private static final double DEFAULT_RATE = 1;

        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "isice",
                "isice[:iterations=5,sparsity=0.01,rate=1]",
                "sparse inverse covariance by Newton-Schulz",
                a -> new Isice(
                        a.count("iterations", DEFAULT_ITERATIONS),
                        a.number("sparsity", DEFAULT_SPARSITY),
                        a.number("rate", DEFAULT_RATE)));

        public Isice {
            if (iterations < 2) {
                throw new IllegalArgumentException("isice: expected at least 2 iterations, found " + iterations);
            }
            if (!(sparsity >= 0) || !(rate > 0) || Double.isInfinite(sparsity + rate)) {
                throw new IllegalArgumentException(
                        "isice: expected sparsity >= 0 and rate > 0, found sparsity " + sparsity + ", rate " + rate);
            }
        }

        @Override
        public String text() {
            return "isice:" + iterations
                    + (sparsity == DEFAULT_SPARSITY ? "" : ",sparsity=" + StageRegistry.number(sparsity))
                    + (rate == DEFAULT_RATE ? "" : ",rate=" + StageRegistry.number(rate));
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            return SparseInverse.of(matrices, iterations, sparsity, rate);
        }
    }

    /**
     * Riemannian batch normalization with fixed statistics, {@code Y = G^(−½) K G^(−½)} for the barycenter G of training
     * images, see {@link Barycenter}: the barycenter of the results is the identity (Brooks, Schwander, Barbaresco,
     * Schneider, Cord, "Riemannian Batch Normalization for SPD Neural Networks", NeurIPS 2019).
     *
     * <p>The parameter {@code inverseRoot [C, C]}, {@code G^(−½)}, is fitted once before training and then constant.
     * Published with the barycenter of each batch in training and a learned bias B, {@code B^½ Y B^½}: statistics of
     * batches would depend on how a step is divided over machines, and {@code o2t:<C>} or {@code spd:<C>} behind this
     * stage are such congruences. Put it behind stages that are not trained, such as {@code pca}.
     */
    record RiemannianNorm() implements Transform {
        private static final int FITTED_TO = 200; // images: more hardly move the mean

        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "rbn",
                "rbn",
                "Riemannian batch norm: the barycenter of training images becomes I",
                a -> new RiemannianNorm());

        @Override
        public String text() {
            return "rbn";
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            return List.of(Vocabulary.unset("inverseRoot", Role.FITTED, channels, channels));
        }

        @Override
        public int fittedTo() {
            return FITTED_TO;
        }

        @Override
        public void fit(Tensor matrices, ParameterSet parameters, RandomGenerator random) {
            parameters.get("inverseRoot").set(Fitting.like(Barycenter.inverseRoot(matrices), matrices));
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            Var inverseRoot = parameters.get("inverseRoot");
            Fitting.requireFitted("rbn", inverseRoot);
            return SpdTransform.free(matrices, inverseRoot);
        }
    }

    /**
     * Second-order transformation {@code Y = WᵀKW} with an unconstrained {@code weight [C, size]}
     * (Yu, Salzmann, "Second-order Convolutional Neural Networks", 2017): {@link Transform.Spd} without its manifold.
     *
     * @param size rows of Y; they may be more than those of K
     */
    record Free(int size) implements Transform {
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "o2t", "o2t:<size>", "Y = W^T K W, W unconstrained", a -> new Free(a.count("size")));

        /** Gaussian of variance 1/C: {@code wᵀKw} is the mean of the diagonal of K on average. */
        static Initializer unitVariance(long channels) {
            return Initializer.gaussian(Math.sqrt(1.0 / channels));
        }

        @Override
        public String text() {
            return "o2t:" + size;
        }

        @Override
        public long outputs(long channels) {
            return size;
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            return List.of(new ParameterSpec("weight", Shape.of(channels, size), Role.WEIGHT, unitVariance(channels)));
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            return SpdTransform.free(matrices, parameters.get("weight"));
        }
    }
}
