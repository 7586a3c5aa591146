package org.gramian.pooling;

import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.basis.EnumWords;
import org.gramian.pooling.Transform.Free;
import org.gramian.spd.Rbf.Backward;
import org.gramian.spd.layer.QuadraticForms;
import org.gramian.spd.layer.TensorSketching;
import org.gramian.spd.layer.UpperTriangle;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Vectorization of symmetric matrices: {@code [n, C, C]} to {@code [n, d]}.
 *
 * @since 0.1
 */
public sealed interface Vectorization extends PoolingStage
        permits Vectorization.Triu,
                Vectorization.Flat,
                Vectorization.TensorSketch,
                Vectorization.RandomMaclaurin,
                Vectorization.Parametric {
    @Override
    default String kind() {
        return "vectorization";
    }

    /**
     * Upper triangle with off-diagonal elements times √2: {@code d = C(C+1)/2}.
     *
     * @param backward derivative, or the formula printed in the paper: twice the derivative off the diagonal
     */
    record Triu(Backward backward) implements Vectorization {
        /** Creates a vectorization whose backward pass is the derivative. */
        public Triu() {
            this(Backward.EXACT);
        }

        @Override
        public String text() {
            return backward == Backward.EXACT ? "triu" : "triu:gradient=" + EnumWords.text(backward);
        }

        @Override
        public long outputs(long channels) {
            return UpperTriangle.length(channels);
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            return UpperTriangle.vectorize(matrices, backward);
        }
    }

    /** Whole matrix in row-major order: {@code d = C²}, as in the paper's "kernel only" rows. */
    record Flat() implements Vectorization {
        @Override
        public String text() {
            return "flat";
        }

        @Override
        public long outputs(long channels) {
            return channels * channels;
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            long size = matrices.shape().at(1);
            return matrices.reshape(matrices.shape().at(0), size * size);
        }
    }

    /**
     * Parametric vectorization, {@code v_j = w_jᵀ Y w_j} with the columns of the learned {@code weight [C, d]}; not
     * negative if Y is positive semidefinite (Yu, Salzmann, "Second-order Convolutional Neural Networks", 2017).
     *
     * @param size d
     */
    record Parametric(int size) implements Vectorization {
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "pv", "pv:<size>", "v_j = w_j^T Y w_j, W learned", a -> new Parametric(a.count("size")));

        @Override
        public String text() {
            return "pv:" + size;
        }

        @Override
        public long outputs(long channels) {
            return size;
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            return List.of(
                    new ParameterSpec("weight", Shape.of(channels, size), Role.WEIGHT, Free.unitVariance(channels)));
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            Var weight = parameters.get("weight");
            return QuadraticForms.of(matrices, weight, weight);
        }
    }

    /**
     * Compact bilinear pooling by random Maclaurin features: {@code v_k = w1_kᵀ K w2_k / √d} with vectors of random
     * signs, the columns of {@code w1 [C, d]} and {@code w2 [C, d]}, drawn once and never trained (Gao, Beijbom, Zhang,
     * Darrell, "Compact Bilinear Pooling", CVPR 2016).
     *
     * <p>For {@code K = Σ_p x_p x_pᵀ} this equals the published sum over positions of {@code (w1_k·x_p)(w2_k·x_p)/√d}.
     * Inner products are preserved in expectation: {@code E⟨v(x), v(y)⟩ = ⟨x, y⟩²} for {@code K = xxᵀ} and {@code yyᵀ}.
     * The signs are stored in the model: 32 MiB in float32 for C = 512, d = 8192. An image takes {@code 2dC²}
     * operations; {@link TensorSketch} needs {@code C²}.
     *
     * @param size d
     */
    record RandomMaclaurin(int size) implements Vectorization {
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "maclaurin",
                "maclaurin:<size>",
                "compact bilinear, v_k = w1_k^T K w2_k / sqrt d, random signs",
                a -> new RandomMaclaurin(a.count("size")));

        @Override
        public String text() {
            return "maclaurin:" + size;
        }

        @Override
        public long outputs(long channels) {
            return size;
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            Shape shape = Shape.of(channels, size);
            return List.of(
                    new ParameterSpec("w1", shape, Role.FITTED, RandomMaclaurin::signs),
                    new ParameterSpec("w2", shape, Role.FITTED, RandomMaclaurin::signs));
        }

        /** 1 and −1, each with probability 1/2. */
        static Tensor signs(RandomGenerator random, Shape shape, DType type) {
            double[] signs = new double[Math.toIntExact(shape.elements())];
            for (int i = 0; i < signs.length; i++) {
                signs[i] = random.nextBoolean() ? 1 : -1;
            }
            return Tensors.of(signs, shape, type);
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            Var forms = QuadraticForms.of(matrices, parameters.get("w1"), parameters.get("w2"));
            return forms.mul(1 / Math.sqrt(size));
        }
    }

    /**
     * Compact bilinear pooling by a tensor sketch: adds each element of K with a random sign to one of d bins, {@code
     * v_k = Σ s1_i s2_j K_ij} over all i, j with {@code (h1_i + h2_j) mod d = k} (Gao, Beijbom, Zhang, Darrell,
     * "Compact Bilinear Pooling", CVPR 2016; Pham, Pagh, KDD 2013).
     *
     * <p>Sketches are linear, so for {@code K = Σ_p x_p x_pᵀ} this equals the published sum over positions of circular
     * convolutions of two count sketches of {@code x_p}, without their Fourier transforms. Bins {@code h [2, C]} and
     * signs {@code s [2, C]} are drawn once, stored in the model and never trained. Inner products are preserved in
     * expectation: {@code E⟨v(x), v(y)⟩ = ⟨x, y⟩²} for {@code K = xxᵀ} and {@code yyᵀ}.
     *
     * @param size d
     */
    record TensorSketch(int size) implements Vectorization {
        static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
                "sketch",
                "sketch:<size>",
                "compact bilinear, K_ij with random signs summed into random bins",
                a -> new TensorSketch(a.count("size")));

        @Override
        public String text() {
            return "sketch:" + size;
        }

        @Override
        public long outputs(long channels) {
            return size;
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            Shape shape = Shape.of(2, channels);
            return List.of(
                    new ParameterSpec("h", shape, Role.FITTED, this::bins),
                    new ParameterSpec("s", shape, Role.FITTED, RandomMaclaurin::signs));
        }

        /** Integers below d, which float32 represents exactly: a size has at most six digits. */
        private Tensor bins(RandomGenerator random, Shape shape, DType type) {
            double[] bins =
                    random.ints(shape.elements(), 0, size).asDoubleStream().toArray();
            return Tensors.of(bins, shape, type);
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            Tensor h = parameters.get("h").value();
            return TensorSketching.of(size, h, parameters.get("s").value()).apply(matrices);
        }
    }
}
