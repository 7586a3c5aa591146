package org.gramian.linear;

import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.CommonOps_DDRM;
import org.ejml.dense.row.NormOps_DDRM;

/** A small matrix of doubles for definitions to be written down literally. */
final class DenseRows {
    private final DMatrixRMaj values;

    private DenseRows(DMatrixRMaj values) {
        this.values = values;
    }

    /** Zeros. */
    DenseRows(int rows, int columns) {
        this(new DMatrixRMaj(rows, columns));
    }

    static DenseRows identity(int size) {
        return new DenseRows(CommonOps_DDRM.identity(size));
    }

    int columns() {
        return values.getNumCols();
    }

    double get(int i, int j) {
        return values.get(i, j);
    }

    void set(int i, int j, double value) {
        values.set(i, j, value);
    }

    DenseRows row(int i) {
        return new DenseRows(CommonOps_DDRM.extractRow(values, i, null));
    }

    DenseRows transpose() {
        return new DenseRows(CommonOps_DDRM.transpose(values, null));
    }

    DenseRows mult(DenseRows other) {
        return new DenseRows(CommonOps_DDRM.mult(values, other.values, null));
    }

    /** {@code this + factor·other}. */
    DenseRows plus(double factor, DenseRows other) {
        return new DenseRows(CommonOps_DDRM.add(values, factor, other.values, null));
    }

    DenseRows scale(double factor) {
        DMatrixRMaj scaled = values.copy();
        CommonOps_DDRM.scale(factor, scaled);
        return new DenseRows(scaled);
    }

    DenseRows solve(DenseRows right) {
        DMatrixRMaj solution = new DMatrixRMaj(columns(), right.columns());
        if (!CommonOps_DDRM.solve(values, right.values, solution)) {
            throw new IllegalStateException("the matrix has no inverse");
        }
        return new DenseRows(solution);
    }

    double trace() {
        return CommonOps_DDRM.trace(values);
    }

    double norm() {
        return NormOps_DDRM.normF(values);
    }

    double largestMagnitude() {
        return CommonOps_DDRM.elementMaxAbs(values);
    }
}
