package org.gramian.linear;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import org.gramian.basis.NamedArguments;
import org.gramian.tensor.Scope;

/**
 * Linear classifier that is solved for directly: rows {@code [n, d]} with labels to a weight {@code W [k, d]} and a
 * bias {@code b [k]}; the class with the highest score {@code z = v·Wᵀ + b} is predicted.
 *
 * <p>Results on the CPU of one machine are bit-identical for any number of threads.
 */
public sealed interface LinearSolver permits Svm, NearestMean, Lda {
    List<String> FORMS = List.of("svm[:C=NUMBER|auto]", "mean", "lda[:shrinkage=NUMBER|auto]");

    /** Largest number of elements of all rows: 2 GiB in float32. A machine that swaps seems to hang. */
    long MAX_NUMBERS = 1L << 29;

    /** Largest side of a square matrix in float64. */
    long MAX_SIDE = 12_000;

    /** Progress callback, called by any thread but never concurrently; an exception that it throws stops the solver. */
    @FunctionalInterface
    interface SolverListener {
        SolverListener NONE = (_, _, _) -> {};

        /** Called often, also without progress. */
        void at(String task, int done, int all);
    }

    /** Thrown if the rows do not determine a classifier, e.g. for a singular covariance; the message says what to try. */
    final class UnsolvableException extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        UnsolvableException(String message) {
            super(message);
        }
    }

    default String text() {
        return switch (this) {
            case Svm(var c) -> text("svm", ":C=", c);
            case Lda(var shrinkage) -> text("lda", ":shrinkage=", shrinkage);
            case NearestMean() -> "mean";
        };
    }

    private static String text(String word, String name, OptionalDouble value) {
        return value.isEmpty() ? word : word + name + NamedArguments.decimal(value.getAsDouble());
    }

    /**
     * Checks that a problem of n rows of length d fits into memory, before the rows are computed.
     *
     * @throws IllegalArgumentException if it does not; the message names the memory needed and what to try
     */
    default void requireRoom(long rows, long size) {
        if (rows * size > MAX_NUMBERS) {
            throw tooLarge(rows, size, "the descriptors", 4.0 * rows * size, 4.0 * MAX_NUMBERS);
        }
        long side = Math.min(rows, size);
        long most = switch (this) {
            case Svm _ -> DualDescent.ScaledRows.usesProducts(rows, size) ? DualDescent.ScaledRows.MAX_PRODUCTS : side;
            case Lda _ -> MAX_SIDE;
            case NearestMean _ -> side;
        };
        double bytes = this instanceof Svm ? Float.BYTES : Double.BYTES;
        if (side > most) {
            throw tooLarge(rows, size, "a square matrix", bytes * side * side, bytes * most * most);
        }
    }

    default boolean hasRoom(long rows, long size) {
        try {
            requireRoom(rows, size);
            return true;
        } catch (IllegalArgumentException tooMany) {
            return false;
        }
    }

    private IllegalArgumentException tooLarge(long rows, long size, String what, double needed, double most) {
        double gib = 1L << 30;
        return new IllegalArgumentException(String.format(
                Locale.ROOT,
                "%d descriptors of size %d do not fit into memory for %s: %s would take %.1f GiB, the limit is %.1f"
                        + " GiB; use fewer crops, shorter descriptors (pca:64 at the beginning of the pooling), or the"
                        + " classifier softmax, which reads them in batches",
                rows,
                size,
                text().split(":", 2)[0],
                what,
                needed / gib,
                most / gib));
    }

    /** Estimates the bytes that solving takes at its largest, for n rows of length d, the rows included. */
    default long bytes(long rows, long size) {
        long all = Float.BYTES * rows * size;
        long side = Math.min(rows, size);
        return switch (this) {
            // a second copy during the transfer to the CPU
            case Svm _ ->
                all + 2 * Float.BYTES * rows * (DualDescent.ScaledRows.usesProducts(rows, size) ? rows : size);
            // matrix, shifted, factor, and single precision
            case Lda _ -> 2 * all + 4 * Double.BYTES * side * side;
            // and the rows of a fold
            case NearestMean _ -> 2 * all;
        };
    }

    /** Solves for weight and bias without calibration of the scores. */
    LinearModel fit(LabelledRows rows, SolverListener watch);

    /**
     * Solves for weight and bias and calibrates the scores by group-wise cross-validation.
     *
     * <p>Weight and bias are divided by the softmax temperature that fits the out-of-fold scores best and, where that pays, scaled
     * for each class; {@link LinearModel#crossValidation} has the scores. They stay as they are if a class has only one group, or if the
     * rows of a fold are too few for a solution.
     */
    default LinearModel solve(LabelledRows rows, SolverListener watch) {
        GroupFolds folds = GroupFolds.toCalibrate(rows);
        try (Scope scope = Scope.open()) {
            LinearModel model = fit(rows, watch);
            if (model.crossValidation().isEmpty() && folds.count() > 1) {
                try {
                    model = model.with(CrossValidation.of(rows, folds, watch, this));
                } catch (UnsolvableException _) {
                    // All rows determine the classifier, the fewer of a fold do not.
                }
            }
            return model.calibrated(watch).keptBy(scope);
        }
    }

    /** Returns this solver with the C that it found before, without another search. */
    default LinearSolver fixed(Map<String, Double> found) {
        OptionalDouble c = found.containsKey("C") ? OptionalDouble.of(found.get("C")) : OptionalDouble.empty();
        return switch (this) {
            case Svm _ -> new Svm(c);
            case Lda _, NearestMean _ -> this;
        };
    }

    /** Parses a solver, such as {@code svm}, {@code svm:C=10}, {@code mean} or {@code lda:shrinkage=0.1}. */
    static LinearSolver parse(String text) {
        NamedArguments solver = NamedArguments.parse("classifier", text, FORMS);
        LinearSolver parsed = switch (solver.name()) {
            case "svm" -> new Svm(solver.numberOr("C", "auto"));
            case "lda" -> new Lda(solver.numberOr("shrinkage", "auto"));
            default -> new NearestMean();
        };
        solver.requireAllUsed();
        return parsed;
    }
}
