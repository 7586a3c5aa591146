package org.gramian.linear;

import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.CommonOps_DDRM;
import org.ejml.dense.row.NormOps_DDRM;

/** A small matrix of doubles for definitions to be written down literally. */
final class Dense {
    private final DMatrixRMaj values;

    private Dense(DMatrixRMaj values) {
        this.values = values;
    }

    /** Zeros. */
    Dense(int rows, int columns) {
        this(new DMatrixRMaj(rows, columns));
    }

    static Dense identity(int size) {
        return new Dense(CommonOps_DDRM.identity(size));
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

    Dense row(int i) {
        return new Dense(CommonOps_DDRM.extractRow(values, i, null));
    }

    Dense transpose() {
        return new Dense(CommonOps_DDRM.transpose(values, null));
    }

    Dense mult(Dense other) {
        return new Dense(CommonOps_DDRM.mult(values, other.values, null));
    }

    /** {@code this + factor·other}. */
    Dense plus(double factor, Dense other) {
        return new Dense(CommonOps_DDRM.add(values, factor, other.values, null));
    }

    Dense scale(double factor) {
        DMatrixRMaj scaled = values.copy();
        CommonOps_DDRM.scale(factor, scaled);
        return new Dense(scaled);
    }

    Dense solve(Dense right) {
        DMatrixRMaj solution = new DMatrixRMaj(columns(), right.columns());
        if (!CommonOps_DDRM.solve(values, right.values, solution)) {
            throw new IllegalStateException("the matrix has no inverse");
        }
        return new Dense(solution);
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
