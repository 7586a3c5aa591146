package org.gramian.linear;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SequencedMap;

/**
 * The values of C that a solver tries in cross-validation: the given one, or those of its grid.
 *
 * @param given C, if it was given
 * @param costs in ascending order: each starts from the solution of the one before
 */
record CostGrid(OptionalDouble given, List<Double> costs) {
    /** C where it is not given and a class has one group only. */
    private static final double USUAL = 1;

    /** @param grid of a C that is not given */
    static CostGrid of(OptionalDouble given, List<Double> grid) {
        return new CostGrid(given, given.isPresent() ? List.of(given.getAsDouble()) : grid);
    }

    /** @throws IllegalArgumentException if a C is given that is not positive */
    static void requirePositive(String solver, OptionalDouble given) {
        if (given.isPresent() && !(given.getAsDouble() > 0 && given.getAsDouble() <= Float.MAX_VALUE)) {
            throw new IllegalArgumentException("the argument C of " + solver
                    + " must be a positive number or auto, found " + SolverText.decimal(given.getAsDouble()));
        }
    }

    /** The task of a cross-validation, for progress. */
    String task() {
        return given.isPresent() ? "cross-validation" : "cross-validation of C";
    }

    /** C where there are no folds to choose by. */
    double unchosen() {
        return given.orElse(USUAL);
    }

    /** The first numbers that a solver tells. */
    static SequencedMap<String, Double> found(double chosen, int folds) {
        SequencedMap<String, Double> found = new LinkedHashMap<>();
        found.put("C", chosen);
        found.put("folds", (double) folds);
        return found;
    }
}
