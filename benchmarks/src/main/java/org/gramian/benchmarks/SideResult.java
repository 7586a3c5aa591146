package org.gramian.benchmarks;

import java.util.Optional;

/** What came of one side of a comparison. */
sealed interface SideResult {
    /** The side's name. */
    String label();

    /**
     * Times.
     *
     * @param timing they
     * @param agreement of its numbers with those of the first side; nothing for that one itself
     */
    record Measured(Timing timing, Optional<SideDifference> agreement) implements SideResult {
        @Override
        public String label() {
            return timing.label();
        }
    }

    /**
     * Nothing: it cannot do this here, or its numbers are others.
     *
     * @param label the side's name
     * @param reason why
     * @param disagrees whether its numbers are others, which fails the run
     */
    record Missing(String label, String reason, boolean disagrees) implements SideResult {}
}
