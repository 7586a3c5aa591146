package org.gramian.linear;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.stream.IntStream;
import org.gramian.linear.CrossValidation.CostGrid;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Multinomial logistic regression with an L2 penalty:
 *
 * <pre>{@code min_W  ½‖W‖² − C Σ_i s_i log softmax(W z_i)_{y_i},   z_i = ((x_i − m)/s, 1)}</pre>
 *
 * <p>with the mean m of the rows, {@code s² = mean ‖x − m‖²} and the weight s_i of the row's class, as in {@link Svm};
 * the bias is the weight of the constant 1. The problem is strictly convex. L-BFGS ({@link LogisticDescent}) solves it
 * in float64 until the norm of the gradient is {@value #TOLERANCE} of that at 0. If {@code d > n} it works on the
 * products {@code ZZᵀ [n, n]}.
 *
 * <p>An unset C is chosen from 0.1, 1, 10, 100 and 1000 by the calibrated log loss of five-fold cross-validation over
 * groups; C is 1 if a class has only one group.
 *
 * @param c weight of the loss against the penalty, positive; empty to choose it by cross-validation
 */
public record Logistic(OptionalDouble c) implements LinearSolver {
    private static final double TOLERANCE = 1e-5;

    /** Predictions do not need the last digits of a solution. */
    private static final double SEARCH_TOLERANCE = 1e-3;

    public Logistic {
        CostGrid.requirePositive("logistic", c);
    }

    /**
     * Normalized rows as the solver reads them.
     *
     * @param centred rows around their mean
     * @param scale s
     * @param products whether the matrix is {@code ZZᵀ [n, n]}; else {@code Z [n, d + 1]}
     * @param matrix the matrix in float64
     */
    private record Scaled(CentredRows centred, double scale, boolean products, Tensor matrix) {
        static Scaled of(LabelledRows rows) {
            CentredRows centred = CentredRows.aroundMean(rows);
            double scale = centred.scale();
            if (rows.size() > rows.count()) {
                Tensor gram = centred.gram().to(DType.F64).mulInPlace(1 / (scale * scale));
                return new Scaled(centred, scale, true, gram.add(1));
            }
            Tensor all = centred.all().to(DType.F64).mulInPlace(1 / scale);
            Tensor ones = Tensors.full(1, Shape.of(rows.count(), 1), DType.F64, all.device());
            return new Scaled(centred, scale, false, Tensors.concat(List.of(all, ones), 1));
        }

        /** Returns the matrix of some rows: their products with the training rows, or the rows themselves. */
        Tensor part(int[] which, int[] training) {
            Tensor some = matrix.select(0, centred.index(which));
            return products ? some.select(1, centred.index(training)) : some;
        }
    }

    @Override
    public LinearModel fit(LabelledRows rows, SolverListener watch) {
        requireRoom(rows.count(), rows.size());
        try (Scope scope = Scope.open()) {
            watch.at("Gram matrix of the rows", 0, 1);
            Scaled scaled = Scaled.of(rows);
            GroupFolds folds = GroupFolds.of(rows);
            CostGrid grid = CostGrid.of(c, 0.1, 1.0, 10.0, 100.0, 1000.0);
            List<CrossValidation> tried =
                    folds.folds() > 1 ? crossValidate(rows, scaled, folds, grid, watch) : List.of();
            int best = 0;
            for (int g = 1; g < tried.size(); g++) {
                best = tried.get(g).logLoss() < tried.get(best).logLoss() ? g : best;
            }
            double chosen = tried.isEmpty() ? grid.unchosen() : grid.costs().get(best);
            SequencedMap<String, Double> found = CostGrid.found(chosen, folds.folds());
            LogisticDescent descent =
                    descent(rows, scaled, IntStream.range(0, rows.count()).toArray());
            LogisticDescent.Convergence convergence = descent.minimize(
                    chosen,
                    TOLERANCE,
                    iterations -> watch.at("fitting logistic regression", iterations, iterations + 1));
            found.put("gradient", convergence.gradient());
            found.put("iterations", (double) convergence.iterations());
            LinearModel model = model(scaled, descent.solution(), rows.classes(), found);
            return (tried.isEmpty() ? model : model.with(tried.get(best))).keptBy(scope);
        }
    }

    private static LogisticDescent descent(LabelledRows rows, Scaled scaled, int[] training) {
        int[] labels = Arrays.stream(training).map(rows::label).toArray();
        double[] weights = Arrays.stream(labels).mapToDouble(rows::weight).toArray();
        Tensor matrix = training.length == rows.count() ? scaled.matrix : scaled.part(training, training);
        return new LogisticDescent(matrix, scaled.products, labels, weights, rows.classes());
    }

    /** Computes out-of-fold scores for every C of the grid, each warm-started from the previous solution. */
    private static List<CrossValidation> crossValidate(
            LabelledRows rows, Scaled scaled, GroupFolds folds, CostGrid grid, SolverListener watch) {
        int k = rows.classes();
        List<Double> costs = grid.costs();
        double[][][] logits = new double[costs.size()][rows.count()][];
        for (int fold = 0; fold < folds.folds(); fold++) {
            int done = fold * costs.size();
            try (Scope _ = Scope.open()) {
                int[] training = folds.rows(fold, false);
                int[] tested = folds.rows(fold, true);
                LogisticDescent descent = descent(rows, scaled, training);
                Tensor test = scaled.part(tested, training);
                for (int g = 0; g < costs.size(); g++) {
                    int at = done + g;
                    descent.minimize(
                            costs.get(g),
                            SEARCH_TOLERANCE,
                            _ -> watch.at(grid.task(), at, costs.size() * folds.folds()));
                    double[] scores = descent.scores(test);
                    for (int i = 0; i < tested.length; i++) {
                        logits[g][tested[i]] = Arrays.copyOfRange(scores, i * k, (i + 1) * k);
                    }
                }
            }
        }
        return Arrays.stream(logits)
                .map(one -> new CrossValidation(rows, folds.folds(), one))
                .toList();
    }

    /** Converts the solution, coefficients {@code [n, k]} or weights {@code [d + 1, k]}, to the units of the rows. */
    private static LinearModel model(
            Scaled scaled, double[] solution, int classes, SequencedMap<String, Double> found) {
        CentredRows centred = scaled.centred;
        int side = solution.length / classes;
        double[] bias = new double[classes];
        Tensor transposed =
                Tensors.of(solution, Shape.of(side, classes), DType.F64).transpose();
        Tensor weight;
        if (scaled.products) {
            for (int i = 0; i < solution.length; i++) {
                bias[i % classes] += solution[i];
            }
            Tensor beta =
                    transposed.to(DType.F32).contiguous().to(centred.rows().device());
            weight = centred.combined(beta).mulInPlace(1 / (scaled.scale * scaled.scale));
        } else {
            System.arraycopy(solution, solution.length - classes, bias, 0, classes);
            Tensor inner = transposed.slice(1, 0, side - 1).mul(1 / scaled.scale);
            weight = inner.to(DType.F32).contiguous().to(centred.rows().device());
        }
        return LinearModel.around(centred.centres(), weight, bias, found);
    }
}
