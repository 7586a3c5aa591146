package org.gramian.benchmarks;

import java.util.List;

/**
 * Losses of two sides that start from the same parameters and take the same steps.
 *
 * @param first losses of the first side
 * @param second losses of the other side
 * @param other name of the other side
 */
record Trajectory(List<Double> first, List<Double> second, String other) {
    /** Tolerance in float32. */
    static final double TOLERANCE = 1e-3;

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
            double a = first.get(i);
            double b = second.get(i);
            double difference = a == b ? 0 : Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));
            largest = Math.max(largest, Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference);
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
                        largestDifference() <= TOLERANCE ? "within" : "MORE THAN",
                        TOLERANCE);
    }
}
