package org.gramian.spd;

import java.util.function.UnaryOperator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** The upstream gradients of matrices that an adjoint must get right. */
enum Upstream implements UnaryOperator<Tensor> {
    GAUSSIAN {
        @Override
        public Tensor apply(Tensor result) {
            return SampleMatrices.gaussian(
                    SampleMatrices.random(23), result.shape().sizes());
        }
    },
    SYMMETRIC {
        @Override
        public Tensor apply(Tensor result) {
            return Decompositions.symmetric(GAUSSIAN.apply(result));
        }
    },
    UPPER_TRIANGLE {
        @Override
        public Tensor apply(Tensor result) {
            try (Scope scope = Scope.open()) {
                int size = (int) result.size(-1);
                double[] mask = new double[size * size];
                for (int i = 0; i < size; i++) {
                    for (int j = i; j < size; j++) {
                        mask[i * size + j] = 1;
                    }
                }
                Tensor upper = Tensors.of(mask, Shape.of(size, size), DType.F64);
                return scope.keep(GAUSSIAN.apply(result).mul(upper));
            }
        }
    }
}
