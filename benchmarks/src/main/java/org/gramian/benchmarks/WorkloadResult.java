package org.gramian.benchmarks;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Result of a workload on all sides.
 *
 * @param workload that was measured
 * @param spec sizes
 * @param outcomes of each side, Gramian first
 * @param trajectory losses of many training steps, if compared
 */
record WorkloadResult(
        BenchWorkload workload, TaskSpec spec, List<SideResult> outcomes, Optional<Trajectory> trajectory) {
    WorkloadResult {
        outcomes = List.copyOf(outcomes);
    }

    /** Returns workload, batch size and precision. */
    String title() {
        return workload.title(spec);
    }

    /** Returns the speedup over the first other side measured, by medians; empty without one. */
    OptionalDouble timesAsFast(Timing timing) {
        return outcomes.stream()
                .skip(1)
                .filter(SideResult.Measured.class::isInstance)
                .mapToDouble(other -> ((SideResult.Measured) other).timing().median() / timing.median())
                .findFirst();
    }

    /** Returns images per second, by the median; empty for a kernel matrix. */
    OptionalDouble imagesPerSecond(Timing timing) {
        return workload == BenchWorkload.DEFINITION
                ? OptionalDouble.empty()
                : OptionalDouble.of(spec.number("batch") / timing.median());
    }

    /** Returns operations per second, by the median; empty if {@link Operations} has no formula. */
    OptionalDouble operationsPerSecond(Timing timing) {
        OptionalDouble count = Operations.of(workload, spec);
        return count.isPresent() ? OptionalDouble.of(count.getAsDouble() / timing.median()) : count;
    }

    /** Returns whether the values of a side differ from those of Gramian. */
    boolean disagrees() {
        return outcomes.stream()
                .anyMatch(outcome -> outcome instanceof SideResult.Missing missing && missing.disagrees());
    }
}
