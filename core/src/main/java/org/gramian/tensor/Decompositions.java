package org.gramian.tensor;

import java.util.Optional;
import java.util.stream.LongStream;
import org.gramian.tensor.library.CudaGraph;
import org.gramian.tensor.library.Libtorch;

/**
 * Factorizations of matrices and batches of matrices: QR, Cholesky, eigenvalues, linear systems.
 *
 * @since 0.1
 */
public final class Decompositions {
    private static final class Operators {
        static final Operator GEQRF = Operator.of("geqrf");
        static final Operator HOUSEHOLDER = Operator.of("linalg_householder_product");
        static final Operator CHOLESKY = Operator.of("linalg_cholesky_ex");
        static final Operator TRIANGULAR = Operator.of("linalg_solve_triangular");
        static final Operator SOLVE = Operator.of("linalg_solve");
        static final Operator SVD = Operator.of("svd");
        static final Operator EIGH = Operator.of("linalg_eigh");
    }

    private Decompositions() {}

    /**
     * Eigendecomposition of a symmetric matrix, {@code A = U diag(values) Uᵀ}.
     *
     * @param values eigenvalues {@code [..., n]}, in unspecified order
     * @param vectors {@code U [..., n, n]}: eigenvectors as columns, in the order of the values
     */
    public record Eigen(Tensor values, Tensor vectors) {}

    /**
     * Orthonormal columns {@code Q [m, n]} of {@code A = QR}, m ≥ n.
     *
     * @param fixSigns whether columns are turned so that {@code diag(R) > 0}, which makes Q unique; otherwise they are
     *     as LAPACK's Householder reflections leave them
     */
    public static Tensor orthonormalColumns(Tensor a, boolean fixSigns) {
        Checks.rank("qr", a, 2);
        Checks.floating("qr", a);
        if (a.size(0) < a.size(1)) {
            throw new IllegalArgumentException("qr: expected at least as many rows as columns, found " + a);
        }
        try (Scope scope = Scope.open()) {
            Tensor[] factored = Operators.GEQRF.results(2, a);
            Tensor q = Operators.HOUSEHOLDER.call(factored[0], factored[1]);
            if (fixSigns) {
                Tensor sign = factored[0].diagonal().sign();
                Tensor zeros = sign.abs().mul(-1).add(1);
                q = q.mul(sign.add(zeros)); // columns with R_ii = 0 stay as they are
            }
            return scope.keep(q.contiguous());
        }
    }

    /**
     * Computes the lower triangular factor L of {@code A = LLᵀ}, for a matrix or a batch.
     *
     * <p>Nothing is checked, so that the caller does not wait for the GPU: if A is not positive definite the result is
     * undefined, see {@link #isPositiveDefinite}.
     *
     * @param a {@code [..., n, n]}
     * @return {@code L [..., n, n]}
     */
    public static Tensor cholesky(Tensor a) {
        Tensor[] factorAndCode = choleskyWithCode(a);
        factorAndCode[1].close();
        return factorAndCode[0];
    }

    /** Returns the Cholesky factor L of one matrix; empty if it has none. */
    public static Optional<Tensor> tryCholesky(Tensor a) {
        Tensor[] factorAndCode = choleskyWithCode(a);
        try (Tensor code = factorAndCode[1]) {
            return code.toLongs()[0] == 0 ? Optional.of(factorAndCode[0]) : Optional.empty();
        }
    }

    private static Tensor[] choleskyWithCode(Tensor a) {
        Checks.square("cholesky", a);
        return Operators.CHOLESKY.results(2, a, false, false);
    }

    /** Returns whether every matrix of a batch has a Cholesky factorization. */
    public static boolean isPositiveDefinite(Tensor a) {
        try (Scope _ = Scope.open()) {
            return LongStream.of(choleskyWithCode(a)[1].toLongs()).allMatch(code -> code == 0);
        }
    }

    /** Solves {@code A X = B} (left) or {@code X A = B} for a triangular A. */
    public static Tensor solveTriangular(Tensor a, Tensor b, boolean upper, boolean left) {
        Checks.square("triangular solve", a);
        Checks.sameKind("triangular solve", a, b);
        if (b.size(left ? -2 : -1) != a.size(-1)) {
            throw Checks.mismatch("triangular solve", a, b, "the system's size differs from the right-hand side's");
        }
        return Operators.TRIANGULAR.call(a, b, upper, left, false);
    }

    /** Solves {@code A X = B} for a square, invertible A. */
    public static Tensor solve(Tensor a, Tensor b) {
        Checks.square("solve", a);
        Checks.sameKind("solve", a, b);
        if (b.shape().rank() < 2 || b.size(-2) != a.size(-1)) {
            throw Checks.mismatch("solve", a, b, "the system's size differs from the right-hand side's");
        }
        CudaGraph.waited();
        return Operators.SOLVE.call(a, b, true);
    }

    /** Computes the symmetric part {@code (A + Aᵀ)/2} of matrices {@code [..., n, n]}. */
    public static Tensor symmetric(Tensor a) {
        return a.add(a.transpose()).mulInPlace(0.5);
    }

    /**
     * Computes eigenvalues and eigenvectors of symmetric matrices.
     *
     * <p>Before libtorch 2.10 they come from the singular value decomposition of {@code A + cI}, {@code c = ‖A‖₁}: that
     * matrix is positive semidefinite, so its left singular vectors are eigenvectors of A, indefinite or not, and
     * {@code s − c} the eigenvalues. This is done in float64 for any type of A: in float32 the shift swallows small
     * eigenvalues, and LAPACK fails on the clusters of equal ones that covariances of few positions have.
     *
     * @param a {@code [..., n, n]}
     */
    public static Eigen symmetricEigen(Tensor a) {
        Checks.square("symmetric eigendecomposition", a);
        CudaGraph.waited();
        if (Libtorch.load().hasLists()) {
            Tensor[] valuesAndVectors = Operators.EIGH.results(2, a, "L");
            return new Eigen(valuesAndVectors[0], valuesAndVectors[1]);
        }
        return shifted(a, true);
    }

    /**
     * Computes the eigenvalues {@code [..., n]} of symmetric matrices in unspecified order, several times faster than
     * {@link #symmetricEigen}.
     */
    public static Tensor symmetricEigenvalues(Tensor a) {
        if (Libtorch.load().hasLists()) {
            return symmetricEigen(a).values();
        }
        Checks.square("symmetric eigenvalues", a);
        try (Scope scope = Scope.open()) {
            return scope.keep(shifted(a, false).values());
        }
    }

    /** Uses the singular values of {@code A + cI}; the vectors are zeros if not requested. */
    private static Eigen shifted(Tensor a, boolean vectors) {
        CudaGraph.waited();
        try (Scope scope = Scope.open()) {
            Tensor exact = a.to(DType.F64);
            Tensor norm = exact.abs().sum(-2).max(-1); // [..., 1, 1]
            Tensor identity = Tensors.identity(a.size(-1), DType.F64, a.device());
            Tensor shifted = exact.add(identity.mul(norm));
            Tensor[] factors = Operators.SVD.results(3, shifted, true, vectors);
            Tensor values = factors[1].unsqueeze(-2).sub(norm);
            long[] sizes = factors[1].shape().sizes();
            return new Eigen(scope.keep(values.reshape(sizes).to(a.type())), scope.keep(factors[0].to(a.type())));
        }
    }
}
