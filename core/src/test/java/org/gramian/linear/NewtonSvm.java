package org.gramian.linear;

/**
 * An independent solver of the SVM's primal problem for few numbers: Newton's method on the squared hinge, in double
 * precision, on rows {@code ((x − m)/s, 1)}.
 */
final class NewtonSvm {
    private final DenseRows rows;
    private final double[] signs;
    private final double[] costs;

    NewtonSvm(SyntheticRows given, int label, double[] costs) {
        int n = given.count();
        int d = given.size();
        double[] mean = given.mean();
        double scale = given.scale();
        rows = new DenseRows(n, d + 1);
        signs = new double[n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < d; j++) {
                rows.set(i, j, (given.values()[i][j] - mean[j]) / scale);
            }
            rows.set(i, d, 1);
            signs[i] = given.labels()[i] == label ? 1 : -1;
        }
        this.costs = costs;
    }

    /** The scores of all rows at the optimum. */
    DenseRows scores() {
        DenseRows w = new DenseRows(rows.columns(), 1);
        for (int i = 0; i < 200; i++) {
            DenseRows step = step(w);
            double length = 1;
            while (length > 1e-12 && objective(w.plus(length, step)) > objective(w)) {
                length /= 2;
            }
            w = w.plus(length, step);
        }
        return rows.mult(w);
    }

    private double objective(DenseRows w) {
        DenseRows scores = rows.mult(w);
        double sum = w.norm() * w.norm() / 2;
        for (int i = 0; i < signs.length; i++) {
            double slack = Math.max(0, 1 - signs[i] * scores.get(i, 0));
            sum += costs[i] * slack * slack;
        }
        return sum;
    }

    private DenseRows step(DenseRows w) {
        DenseRows scores = rows.mult(w);
        DenseRows gradient = w;
        DenseRows hessian = DenseRows.identity(rows.columns());
        for (int i = 0; i < signs.length; i++) {
            double slack = 1 - signs[i] * scores.get(i, 0);
            if (slack > 0) {
                DenseRows row = rows.row(i).transpose();
                gradient = gradient.plus(-2 * costs[i] * signs[i] * slack, row);
                hessian = hessian.plus(2 * costs[i], row.mult(row.transpose()));
            }
        }
        return hessian.solve(gradient).scale(-1);
    }
}
