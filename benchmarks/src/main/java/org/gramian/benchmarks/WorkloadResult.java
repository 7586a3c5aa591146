package org.gramian.benchmarks;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SequencedMap;
import org.gramian.benchmarks.WorkloadResult.SideDifference;
import org.gramian.benchmarks.WorkloadResult.SideResult;
import org.gramian.benchmarks.WorkloadResult.Timing;
import org.gramian.benchmarks.WorkloadResult.Trajectory;

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

    /** Returns the relative difference of two values; infinite if one is not a number. */
    private static double relativeDifference(double a, double b) {
        if (a == b) {
            return 0;
        }
        double difference = Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));
        return Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference;
    }

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

    /**
     * Times and memory of a side.
     *
     * @param label name of the side
     * @param seconds per step, of each timing
     * @param peakMemory in bytes, see {@link WorkerProcess#peakMemory}
     * @param about versions of the side
     */
    record Timing(String label, List<Double> seconds, OptionalLong peakMemory, SequencedMap<String, String> about) {
        double median() {
            double[] sorted = sorted();
            int middle = sorted.length / 2;
            return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        }

        double min() {
            return sorted()[0];
        }

        double max() {
            return sorted()[seconds.size() - 1];
        }

        private double[] sorted() {
            double[] values = seconds.stream().mapToDouble(Double::doubleValue).toArray();
            Arrays.sort(values);
            return values;
        }
    }

    /**
     * Largest difference between the values of two sides.
     *
     * @param numbers number of values
     * @param largestDifference relative
     * @param where name of that value
     */
    record SideDifference(int numbers, double largestDifference, String where) {
        static SideDifference of(SequencedMap<String, Double> first, SequencedMap<String, Double> second) {
            if (!first.keySet().equals(second.keySet())) {
                throw new IllegalStateException("expected the same values from both sides, found " + first.keySet()
                        + " and " + second.keySet());
            }
            double largest = -1;
            String where = "";
            for (String name : List.copyOf(first.keySet())) {
                double difference =
                        relativeDifference(first.getOrDefault(name, Double.NaN), second.getOrDefault(name, Double.NaN));
                if (difference > largest) {
                    largest = difference;
                    where = name;
                }
            }
            return new SideDifference(first.size(), largest, where);
        }

        /** Returns whether the difference is within a tolerance. */
        boolean holds(double tolerance) {
            return largestDifference <= tolerance;
        }

        @Override
        public String toString() {
            return "%d values agree to %.1e (%s)".formatted(numbers, largestDifference, where);
        }
    }

    /**
     * Losses of two sides that start from the same parameters and take the same steps.
     *
     * @param first losses of the first side
     * @param second losses of the other side
     * @param other name of the other side
     * @param tolerance relative difference that rounding explains
     */
    record Trajectory(List<Double> first, List<Double> second, String other, double tolerance) {
        Trajectory {
            if (first.size() != second.size() || first.isEmpty()) {
                throw new IllegalArgumentException("expected trajectories of the same length, found " + first.size()
                        + " and " + second.size() + " losses");
            }
            first = List.copyOf(first);
            second = List.copyOf(second);
        }

        /** Returns the largest relative difference of losses of the same step. */
        double largestDifference() {
            double largest = 0;
            for (int i = 0; i < first.size(); i++) {
                largest = Math.max(largest, relativeDifference(first.get(i), second.get(i)));
            }
            return largest;
        }

        @Override
        public String toString() {
            return "losses of %d steps from %.4f to %.4f differ from those of %s by at most %.1e, %s the tolerance of %.0e"
                    .formatted(
                            first.size(),
                            first.getFirst(),
                            first.getLast(),
                            other,
                            largestDifference(),
                            largestDifference() <= tolerance ? "within" : "MORE THAN",
                            tolerance);
        }
    }
}
