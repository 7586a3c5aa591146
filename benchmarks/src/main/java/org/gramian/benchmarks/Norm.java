package org.gramian.benchmarks;

import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/** Euclidean norm of a tensor, by which sides are compared. */
final class Norm {
    private Norm() {}

    static double of(Tensor tensor) {
        try (Scope _ = Scope.open()) {
            return Math.sqrt(Reductions.sum(Elementwise.mul(tensor, tensor)).item());
        }
    }
}
