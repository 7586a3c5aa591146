package org.gramian.benchmarks.memory;

import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/**
 * Memory of the forward and backward pass of a method, in bytes.
 *
 * @param pooling with all defaults resolved
 * @param descriptor size of a descriptor
 * @param parameters of the pooling, without a classifier
 * @param peak on top of features and parameters
 * @param largest largest tensor between two stages, as {@code kernel rbf F32[32, 512, 512]}
 * @param largestBytes its size
 */
record MemoryUsage(String pooling, long descriptor, long parameters, long peak, String largest, long largestBytes) {
    private static final JsonMapper JSON = JsonMapper.shared();

    /** Returns a line of JSON for {@link #parse}. */
    String line() {
        return JSON.writeValueAsString(this);
    }

    static MemoryUsage parse(String line) {
        return JSON.readValue(line, MemoryUsage.class);
    }

    /** Returns the cells of the table row after the method. */
    List<String> cells() {
        return List.of(
                "`" + pooling + "`",
                "" + descriptor,
                mebibytes(parameters),
                mebibytes(peak),
                largest + ": " + mebibytes(largestBytes) + " MiB");
    }

    private static String mebibytes(long bytes) {
        return "" + Math.round(bytes / (double) (1 << 20));
    }
}
