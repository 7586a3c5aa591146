package org.gramian.linear;

/**
 * Progress callback of a solver, called by any thread but never concurrently; an exception that it throws stops the
 * solver.
 */
@FunctionalInterface
public interface SolverListener {
    /** Ignores progress. */
    SolverListener NONE = (_, _, _) -> {};

    /**
     * Called often, also without progress.
     *
     * @param task description of the current task
     * @param done number of solved problems
     * @param all number of problems of the task
     */
    void at(String task, int done, int all);
}
