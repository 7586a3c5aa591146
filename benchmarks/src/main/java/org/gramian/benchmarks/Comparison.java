package org.gramian.benchmarks;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * One workload measured: Gramian's side, and the others in the order in which they were asked for.
 *
 * @param workload which
 * @param spec its sizes
 * @param outcomes of each side, Gramian's first
 * @param trajectory losses of many steps, where they were asked for
 */
record Comparison(Workload workload, TaskSpec spec, List<SideResult> outcomes, Optional<Trajectory> trajectory) {
    Comparison {
        outcomes = List.copyOf(outcomes);
    }

    /** Workload, batch and precision in a line. */
    String title() {
        return workload.title(spec);
    }

    /** How many times as fast as the first of the other sides that was measured, by medians; nothing where none was. */
    OptionalDouble timesAsFast(Timing timing) {
        return outcomes.stream()
                .skip(1)
                .filter(SideResult.Measured.class::isInstance)
                .mapToDouble(other -> ((SideResult.Measured) other).timing().median() / timing.median())
                .findFirst();
    }

    /** Images in a second, by the median; nothing where one image's matrix is the work. */
    OptionalDouble imagesPerSecond(Timing timing) {
        return workload == Workload.DEFINITION
                ? OptionalDouble.empty()
                : OptionalDouble.of(spec.number("batch") / timing.median());
    }

    /** Operations in a second by {@link Operations}, by the median; nothing where it has no formula. */
    OptionalDouble operationsPerSecond(Timing timing) {
        OptionalDouble count = Operations.of(workload, spec);
        return count.isPresent() ? OptionalDouble.of(count.getAsDouble() / timing.median()) : count;
    }

    /** Whether a side's numbers were others than Gramian's. */
    boolean disagrees() {
        return outcomes.stream()
                .anyMatch(outcome -> outcome instanceof SideResult.Missing missing && missing.disagrees());
    }
}
