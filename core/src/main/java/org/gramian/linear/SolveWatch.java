package org.gramian.linear;

/** Told how far a solver is, by any thread but by one at a time; whatever it throws stops the solver. */
@FunctionalInterface
public interface SolveWatch {
    /** Nobody. */
    SolveWatch NONE = (_, _, _) -> {};

    /**
     * Called often, also while the numbers stay the same.
     *
     * @param task what is done, in words
     * @param done problems that are solved
     * @param all problems of the task
     */
    void at(String task, int done, int all);
}
