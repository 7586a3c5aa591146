package org.gramian.pooling;

import java.util.Locale;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.spd.Backward;
import org.gramian.spd.UpperTriangle;

/** How a symmetric matrix becomes a vector. */
public enum Vectorization implements Stage {
    /** The upper triangle, off-diagonal elements times √2: {@code C(C+1)/2} numbers. */
    TRIU {
        @Override
        public long outputs(long channels) {
            return UpperTriangle.length(channels);
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            return UpperTriangle.vectorize(matrices);
        }
    },
    /** The same numbers, with the gradient as the paper prints it: twice the true one off the diagonal. */
    TRIU_PRINTED {
        @Override
        public String text() {
            return "triu:gradient=" + Backward.PRINTED.text();
        }

        @Override
        public long outputs(long channels) {
            return UpperTriangle.length(channels);
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            return UpperTriangle.vectorize(matrices, Backward.PRINTED);
        }
    },
    /** The whole matrix row by row: {@code C²} numbers, as in the paper's "kernel only" rows. */
    FLAT {
        @Override
        public long outputs(long channels) {
            return channels * channels;
        }

        @Override
        public Var apply(Var matrices, Bindings parameters) {
            long size = matrices.shape().at(1);
            return Shapes.reshape(matrices, matrices.shape().at(0), size * size);
        }
    };

    @Override
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
