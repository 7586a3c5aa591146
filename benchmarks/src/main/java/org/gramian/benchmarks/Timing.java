package org.gramian.benchmarks;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.SequencedMap;

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
