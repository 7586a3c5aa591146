package org.gramian.benchmarks;

import java.util.Optional;

/** Result of one side. */
sealed interface SideResult {
    /** Returns the name of the side. */
    String label();

    /**
     * Measured side.
     *
     * @param timing times
     * @param agreement of its values with those of the first side; empty for the first side
     */
    record Measured(Timing timing, Optional<SideDifference> agreement) implements SideResult {
        @Override
        public String label() {
            return timing.label();
        }
    }

    /**
     * Side without times: it is not available, or its values differ.
     *
     * @param label name of the side
     * @param reason why it is missing
     * @param disagrees whether its values differ, which fails the benchmark
     */
    record Missing(String label, String reason, boolean disagrees) implements SideResult {}
}
