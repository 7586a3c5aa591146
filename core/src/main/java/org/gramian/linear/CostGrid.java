package org.gramian.linear;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SequencedMap;

/**
 * Values of C for the cross-validation of a solver: the given one, or a grid.
 *
 * @param given C, if set
 * @param costs ascending, so that each warm-starts from the previous solution
 */
record CostGrid(OptionalDouble given, List<Double> costs) {
    /** C if it is unset and a class has only one group. */
    private static final double DEFAULT = 1;

    /**
     * Creates the grid.
     *
     * @param grid values for an unset C
     */
    static CostGrid of(OptionalDouble given, List<Double> grid) {
        return new CostGrid(given, given.isPresent() ? List.of(given.getAsDouble()) : grid);
    }

    /**
     * Checks a given C.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    static void requirePositive(String solver, OptionalDouble given) {
        if (given.isPresent() && !(given.getAsDouble() > 0 && given.getAsDouble() <= Float.MAX_VALUE)) {
            throw new IllegalArgumentException("the argument C of " + solver
                    + " must be a positive number or auto, found " + SolverText.decimal(given.getAsDouble()));
        }
    }

    /** Returns the task name of the cross-validation, for progress. */
    String task() {
        return given.isPresent() ? "cross-validation" : "cross-validation of C";
    }

    /** Returns C without cross-validation. */
    double unchosen() {
        return given.orElse(DEFAULT);
    }

    /** Returns the first values that a model reports. */
    static SequencedMap<String, Double> found(double chosen, int folds) {
        SequencedMap<String, Double> found = new LinkedHashMap<>();
        found.put("C", chosen);
        found.put("folds", (double) folds);
        return found;
    }
}
