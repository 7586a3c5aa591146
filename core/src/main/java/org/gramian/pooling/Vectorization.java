package org.gramian.pooling;

import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.spd.Backward;
import org.gramian.spd.UpperTriangle;

/** How a symmetric matrix {@code [n, C, C]} becomes a vector {@code [n, d]}. */
public sealed interface Vectorization extends PoolingStage
        permits Vectorization.Triu, Vectorization.Flat, TensorSketch, RandomMaclaurin, ParametricVectorization {
    /**
     * The upper triangle, off-diagonal elements times √2: {@code C(C+1)/2} numbers.
     *
     * @param backward the true gradient, or the one that the paper prints: twice the true one off the diagonal
     */
    record Triu(Backward backward) implements Vectorization {
        /** With the true gradient. */
        public Triu() {
            this(Backward.EXACT);
        }

        @Override
        public String text() {
            return backward == Backward.EXACT ? "triu" : "triu:gradient=" + backward.text();
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

    /** The whole matrix row by row: {@code C²} numbers, as in the paper's "kernel only" rows. */
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
            return Shapes.reshape(matrices, matrices.shape().at(0), size * size);
        }
    }
}
