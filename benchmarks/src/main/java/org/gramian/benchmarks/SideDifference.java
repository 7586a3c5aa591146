package org.gramian.benchmarks;

import java.util.List;
import java.util.SequencedMap;

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
            throw new IllegalStateException(
                    "expected the same values from both sides, found " + first.keySet() + " and " + second.keySet());
        }
        double largest = -1;
        String where = "";
        for (String name : List.copyOf(first.keySet())) {
            double difference = difference(first.getOrDefault(name, Double.NaN), second.getOrDefault(name, Double.NaN));
            if (difference > largest) {
                largest = difference;
                where = name;
            }
        }
        return new SideDifference(first.size(), largest, where);
    }

    private static double difference(double a, double b) {
        if (a == b) {
            return 0;
        }
        double difference = Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));
        return Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference;
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
