package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.assertj.core.data.Offset;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.factory.DecompositionFactory_DDRM;
import org.ejml.interfaces.decomposition.EigenDecomposition_F64;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(Scoped.class)
class DecompositionsTest {
    private static Tensor identity(long size) {
        return Tensors.identity(size, DType.F64, Device.CPU);
    }

    private static Tensor symmetric(SplittableRandom random, long... sizes) {
        Tensor a = Tensors.gaussian(random, Shape.of(sizes), DType.F64);
        return a.add(a.transpose());
    }

    private static Tensor positiveDefinite(SplittableRandom random, long n, long size) {
        Tensor a = Tensors.gaussian(random, Shape.of(n, size, size), DType.F64);
        return a.matmul(a.transpose()).add(identity(size).mul(0.1));
    }

    @RandomTest
    void orthonormalColumnsRebuildMatrixWithPositiveDiagonal(Seed seed) {
        SplittableRandom random = seed.random();
        int columns = 1 + random.nextInt(6);
        int rows = columns + random.nextInt(4);
        Tensor a = Tensors.gaussian(random, Shape.of(rows, columns), DType.F64);
        Tensor q = Decompositions.orthonormalColumns(a, true);
        assertTensor(q.transpose().matmul(q)).isCloseTo(identity(columns), 1e-13);
        Grid r = Grid.of(q.transpose().matmul(a));
        for (int i = 0; i < columns; i++) {
            assertThat(r.at(i, i)).as("R[%s, %s]", i, i).isPositive();
            for (int j = 0; j < i; j++) {
                assertThat(r.at(i, j)).as("R[%s, %s]", i, j).isCloseTo(0, Offset.offset(1e-13));
            }
        }
        assertTensor(q.matmul(r.tensor())).isCloseTo(a, 1e-13);
        Tensor unfixed = Decompositions.orthonormalColumns(a, false);
        assertTensor(unfixed.abs()).isCloseTo(q.abs(), 1e-13);
    }

    @Test
    void orthonormalColumnsStayFixedAndColumnsOfZerosStayOrthonormal() {
        Tensor q = Decompositions.orthonormalColumns(
                Tensors.gaussian(new SplittableRandom(2), Shape.of(5, 3), DType.F64), true);
        assertTensor(Decompositions.orthonormalColumns(q, true)).isCloseTo(q, 1e-14);
        Tensor zeros = Tensors.zeros(Shape.of(4, 2), DType.F64, Device.CPU);
        Tensor ofZeros = Decompositions.orthonormalColumns(zeros, true);
        assertTensor(ofZeros.transpose().matmul(ofZeros)).isCloseTo(identity(2), 1e-14);
    }

    @RandomTest
    void choleskyFactorIsLowerTriangularAndRebuildsMatrix(Seed seed) {
        SplittableRandom random = seed.random();
        long size = 1L + random.nextInt(6);
        Tensor a = positiveDefinite(random, 3, size);
        Tensor l = Decompositions.cholesky(a);
        Grid grid = Grid.of(l);
        assertTensor(l).isCloseTo(Grid.make(l.shape(), p -> p[2] > p[1] ? 0 : grid.at(p)), 0);
        assertTensor(l.matmul(l.transpose())).isCloseTo(a, 1e-13);
        assertThat(Decompositions.isPositiveDefinite(a)).isTrue();
        assertThat(Decompositions.isPositiveDefinite(a.mul(-1))).isFalse();
    }

    @RandomTest
    void eigenvaluesAgreeWithEjmlAndVectorsRebuildMatrix(Seed seed) {
        SplittableRandom random = seed.random();
        int size = 1 + random.nextInt(7);
        Tensor a = symmetric(random, 2, size, size); // indefinite as a rule
        Decompositions.Eigen eigen = Decompositions.symmetricEigen(a);
        assertRebuilds(a, eigen, 1e-13);
        for (int n = 0; n < 2; n++) {
            double[] found = eigen.values().slice(0, n, n + 1L).toDoubles();
            double[] expected = eigenvaluesByEjml(a.slice(0, n, n + 1L).toDoubles(), size);
            Arrays.sort(found);
            assertThat(found).containsExactly(expected, Offset.offset(1e-12));
        }
    }

    private static double[] eigenvaluesByEjml(double[] matrix, int size) {
        EigenDecomposition_F64<DMatrixRMaj> ejml = DecompositionFactory_DDRM.eig(size, false, true);
        assertThat(ejml.decompose(new DMatrixRMaj(size, size, true, matrix))).isTrue();
        double[] values = new double[size];
        for (int i = 0; i < size; i++) {
            values[i] = ejml.getEigenvalue(i).getReal();
        }
        Arrays.sort(values);
        return values;
    }

    private static void assertRebuilds(Tensor a, Decompositions.Eigen eigen, double tolerance) {
        Tensor u = eigen.vectors();
        Tensor scaled = u.mul(eigen.values().unsqueeze(-2));
        assertTensor(scaled.matmul(u.transpose())).isCloseTo(a, tolerance);
        Tensor unit = u.transpose().matmul(u);
        Grid wanted = Grid.make(unit.shape(), p -> p[p.length - 1] == p[p.length - 2] ? 1 : 0);
        assertTensor(unit).isCloseTo(wanted, tolerance);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 1e-8, 1, 1e8})
    void matricesOfAnyScaleAreTakenApart(double scale) {
        Tensor a = symmetric(new SplittableRandom(9), 4, 4).mul(scale);
        assertRebuilds(a, Decompositions.symmetricEigen(a), 1e-13);
    }

    /** What is added to make a matrix semidefinite is as large as its largest eigenvalue, and must not round the others. */
    @Test
    void smallEigenvaluesKeepTheirDigitsInFloat32() {
        Tensor a = Tensors.of(new double[] {1e6, 0, 0, 0, 1, 0, 0, 0, 1e-3}, Shape.of(3, 3), DType.F32);
        Decompositions.Eigen eigen = Decompositions.symmetricEigen(a);
        assertThat(eigen.vectors().type()).isEqualTo(DType.F32);
        double[] found = eigen.values().toDoubles();
        Arrays.sort(found);
        assertThat(found[0]).isCloseTo(1e-3, Offset.offset(1e-8));
        assertThat(found[1]).isCloseTo(1, Offset.offset(1e-6));
    }

    @RandomTest
    void solutionsSolveTheirSystem(Seed seed) {
        SplittableRandom random = seed.random();
        long size = 1L + random.nextInt(5);
        Tensor a = positiveDefinite(random, 2, size);
        Tensor b = Tensors.gaussian(random, Shape.of(2, size, 3), DType.F64);
        assertTensor(a.matmul(Decompositions.solve(a, b))).isCloseTo(b, 1e-11);
        Tensor l = Decompositions.cholesky(a);
        assertTensor(l.matmul(Decompositions.solveTriangular(l, b, false, true)))
                .isCloseTo(b, 1e-12);
        Tensor right = b.transpose();
        Tensor upper = l.transpose();
        assertTensor(Decompositions.solveTriangular(upper, right, true, false).matmul(upper))
                .isCloseTo(right, 1e-12);
    }

    @Test
    void matricesOfWrongFormAreRefused() {
        Tensor wide = Tensors.zeros(Shape.of(2, 3), DType.F64, Device.CPU);
        Tensor whole = Tensors.zeros(Shape.of(3, 3), DType.I64, Device.CPU);
        assertRejected(() -> Decompositions.orthonormalColumns(wide, true), "qr", "F64[2, 3]");
        assertThatThrownBy(() -> Decompositions.cholesky(wide)).has(facts("cholesky", "F64[2, 3]"));
        assertThatThrownBy(() -> Decompositions.symmetricEigen(wide)).has(facts("eigendecomposition"));
        assertThatThrownBy(() -> Decompositions.cholesky(whole)).has(facts("cholesky", "I64[3, 3]"));
        assertRejected(() -> Decompositions.solve(identity(3), wide), "solve", "F64[3, 3]", "F64[2, 3]");
        assertThatThrownBy(() -> Decompositions.solveTriangular(identity(2), wide.transpose(), true, true))
                .has(facts("solve", "F64[2, 2]", "F64[3, 2]"));
    }
}
