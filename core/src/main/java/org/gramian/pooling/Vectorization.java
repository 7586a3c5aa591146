package org.gramian.pooling;

import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.spd.Backward;
import org.gramian.spd.UpperTriangle;

/** Vectorization of symmetric matrices: {@code [n, C, C]} to {@code [n, d]}. */
public sealed interface Vectorization extends PoolingStage
        permits Vectorization.Triu, Vectorization.Flat, TensorSketch, RandomMaclaurin, ParametricVectorization {
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
            return Shapes.reshape(matrices, matrices.shape().at(0), size * size);
        }
    }
}
