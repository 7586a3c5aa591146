package org.gramian.pooling;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.basis.EnumWords;
import org.gramian.pooling.PoolingStage.Context;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Normalization of vectors {@code [n, d]}; only {@link Pca} changes d.
 *
 * @since 0.1
 */
public sealed interface Normalization extends PoolingStage
        permits Normalization.Root, Normalization.L2, Normalization.Scale, Normalization.Pca {
    @Override
    default String kind() {
        return "normalization";
    }

    @Override
    default long outputs(long channels) {
        return channels;
    }

    @Override
    default Normalization resolve(Context place) {
        return this;
    }

    /** Slope of {@link Root} in the backward pass. */
    enum Slope {
        /** The derivative. */
        EXACT,
        /** {@code 0.5/(|y| + 0.03)} of the output y, as in the authors' code: |y|/(|y|+0.03) of the derivative for ε = 0. */
        AUTHORS;

        /** Constant of the authors' code that keeps the slope at 0 finite. */
        public static final double AUTHORS_MARGIN = 0.03;
    }

    /**
     * Signed square root, smoothed at 0: {@code v / (√(|v|+ε) + √ε)}, which equals {@code √(v+ε) − √ε} for positive v
     * without cancellation.
     *
     * <p>The slope is {@code 1/(2√(|v|+ε))}, {@code 1/(2√ε)} at 0. With ε = 0, as printed in the paper, the slope at 0
     * is infinite; it is replaced by 0, since exact zeros occur after ReLU.
     *
     * @param epsilon ε
     * @param slope derivative, or the slope of the authors' code
     */
    record Root(double epsilon, Slope slope) implements Normalization {
        /** Slope 158 at 0. */
        static final double DEFAULT_EPSILON = 1e-5;

        public Root {
            if (!(epsilon >= 0) || Double.isInfinite(epsilon)) {
                throw new IllegalArgumentException("root: eps must be a number of at least 0, found " + epsilon);
            }
        }

        /** Creates a root whose backward pass is the derivative. */
        public Root(double epsilon) {
            this(epsilon, Slope.EXACT);
        }

        @Override
        public String text() {
            List<String> arguments = new ArrayList<>();
            if (epsilon != DEFAULT_EPSILON) {
                arguments.add("eps=" + StageRegistry.number(epsilon));
            }
            if (slope != Slope.EXACT) {
                arguments.add("gradient=" + EnumWords.text(slope));
            }
            return arguments.isEmpty() ? "root" : "root:" + String.join(",", arguments);
        }

        @Override
        public Var apply(Var vectors, Bindings parameters) {
            Tensor v = vectors.value();
            return vectors.tape().apply(List.of(vectors), () -> {
                Tensor root = v.abs().add(epsilon).sqrtInPlace();
                Tensor value = epsilon == 0 ? v.sign().mul(root) : v.div(root.add(Math.sqrt(epsilon)));
                return Result.of(value, (g, wanted) -> list(slopeTimes(g, root, value)), root);
            });
        }

        private Tensor slopeTimes(Tensor g, Tensor root, Tensor value) {
            if (slope == Slope.AUTHORS) {
                Tensor margin = value.abs().add(Slope.AUTHORS_MARGIN);
                return g.div(margin).mulInPlace(0.5);
            }
            Tensor quotient = g.div(root).mulInPlace(0.5);
            return epsilon > 0 ? quotient : Tensors.where(root.greater(0), quotient, 0);
        }
    }

    /** L2 normalization, {@code u = v/‖v‖₂}; backward {@code (g − u(u·g))/‖v‖}. */
    record L2() implements Normalization {
        /** Lower bound of the norm: a zero vector stays zero. */
        public static final double SMALLEST_NORM = 1e-6;

        @Override
        public String text() {
            return "l2";
        }

        @Override
        public Var apply(Var vectors, Bindings parameters) {
            return apply(vectors);
        }

        /** Normalizes along the last dimension. */
        static Var apply(Var vectors) {
            Tensor v = vectors.value();
            return vectors.tape().apply(List.of(vectors), () -> {
                Tensor norm = v.mul(v).sum(-1).sqrt().atLeast(SMALLEST_NORM);
                Tensor u = v.div(norm);
                return Result.of(
                        u,
                        (g, wanted) -> {
                            Tensor along = u.mul(g).sum(-1);
                            return list(g.sub(u.mul(along)).div(norm));
                        },
                        norm);
            });
        }
    }

    /**
     * Learned positive factor, {@code s·v} with {@code s = exp(θ)}; backward {@code s·g} for v and {@code Σ s·v·g} for
     * θ.
     *
     * <p>After l2 it sets the range of class scores, as the scale of NormFace (Wang et al., ACM MM 2017) and the
     * temperature of CLIP (Radford et al., ICML 2021). Parameter {@code log [1]} is θ, without weight decay. Steps in θ
     * change s by a ratio, so s stays positive.
     *
     * @param start initial s
     */
    record Scale(double start) implements Normalization {
        /** Reaches a loss near 0 for 1000 classes with unit vectors and unit weights (NormFace, equation 6). */
        public static final double DEFAULT_START = 30;

        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "scale",
                "scale[:start=" + StageRegistry.number(DEFAULT_START) + "]",
                "times a learned factor",
                a -> new Scale(a.number("start", DEFAULT_START)));

        public Scale {
            if (!(start > 0) || Double.isInfinite(start)) {
                throw new IllegalArgumentException("scale: expected a start above 0, found " + start);
            }
        }

        @Override
        public String text() {
            return start == DEFAULT_START ? "scale" : "scale:" + StageRegistry.number(start);
        }

        @Override
        public List<ParameterSpec> parameters(long entering) {
            return List.of(new ParameterSpec("log", Shape.of(1), Role.BIAS, Initializer.constant(Math.log(start))));
        }

        @Override
        public Var apply(Var vectors, Bindings parameters) {
            return vectors.mul(parameters.get("log").exp());
        }
    }

    /**
     * Principal component analysis of descriptors without whitening, {@code P(v − μ)}: {@code [n, d]} to {@code [n,
     * k]}.
     *
     * <p>{@code mean [d]} and {@code components [k, d]} are fitted to the descriptors of at most {@code max(k, 4096) +
     * 1} training images and not trained. The centred descriptors of n images have rank n − 1 at most, so k is smaller
     * than n. {@code pca:most} is {@code min(4096, n − 1, d)}; model files record the number. Axes without variance, as
     * for repeated images, are rows of zeros.
     *
     * @param axes k; empty for {@code most}
     */
    record Pca(OptionalInt axes) implements Normalization {
        static final String MOST = "most";

        /** Size of the published Fisher vectors. */
        static final int LARGEST_MOST = 4096;

        public Pca {
            if (axes.isPresent() && axes.getAsInt() < 1) {
                throw new IllegalArgumentException("pca: expected at least 1 axis, found " + axes.getAsInt());
            }
        }

        @Override
        public String text() {
            return "pca:" + (axes.isPresent() ? Integer.toString(axes.getAsInt()) : MOST);
        }

        @Override
        public Normalization resolve(Context place) {
            int images = place.images();
            if (images < 2 || axes.orElse(1) > images - 1) {
                throw tooFew(images);
            }
            long most = Math.min(Math.min(LARGEST_MOST, images - 1), place.entering());
            return axes.isPresent() ? this : new Pca(OptionalInt.of(Math.toIntExact(most)));
        }

        private IllegalArgumentException tooFew(long images) {
            return new IllegalArgumentException(text() + ": descriptors of n images have at most n - 1 axes, found "
                    + images + " images; use more images, or fewer axes, e.g. pca:"
                    + (images > 2 ? images - 1 : 1) + (axes.isPresent() && images > 1 ? " or pca:most" : ""));
        }

        @Override
        public long outputs(long entering) {
            if (axes.isEmpty()) {
                throw new IllegalArgumentException("pca:most depends on the number of training images, which is not"
                        + " known here; write a number instead, e.g. pca:" + Math.min(entering, LARGEST_MOST));
            }
            if (axes.getAsInt() > entering) {
                throw new IllegalArgumentException(
                        "pca: expected at most as many axes as the descriptor is long, found " + axes.getAsInt()
                                + " of " + entering);
            }
            return axes.getAsInt();
        }

        @Override
        public List<ParameterSpec> parameters(long entering) {
            return List.of(
                    Vocabulary.unset("mean", Role.FITTED, entering),
                    Vocabulary.unset("components", Role.FITTED, outputs(entering), entering));
        }

        @Override
        public int fittedTo() {
            return Math.max(LARGEST_MOST, axes.orElse(1)) + 1;
        }

        @Override
        public void fit(Tensor descriptors, ParameterSet parameters, RandomGenerator random) {
            int count = Math.toIntExact(outputs(descriptors.size(1)));
            if (count > descriptors.size(0) - 1) {
                throw tooFew(descriptors.size(0));
            }
            PrincipalAxes.Found found = PrincipalAxes.ofRows(descriptors, count);
            parameters.get("mean").set(Fitting.like(found.mean(), descriptors));
            parameters.get("components").set(Fitting.like(found.axes(), descriptors));
        }

        @Override
        public Var apply(Var vectors, Bindings parameters) {
            Var mean = parameters.get("mean");
            Fitting.requireFitted("pca", mean);
            Var components = parameters.get("components").transpose(0, 1);
            return vectors.sub(mean).matmul(components);
        }
    }
}
