package org.gramian.benchmarks.memory;

import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/**
 * What forward and backward of one method took, in bytes.
 *
 * @param pooling the text of the pooling, with all decided that a method leaves open
 * @param descriptor numbers of one image's descriptor
 * @param parameters of the pooling, without a classifier
 * @param peak beyond features and parameters
 * @param largest the largest tensor that leaves a stage, as {@code kernel rbf F32[32, 512, 512]}
 * @param largestBytes its size
 */
record Usage(String pooling, long descriptor, long parameters, long peak, String largest, long largestBytes) {
    private static final JsonMapper JSON = JsonMapper.shared();

    /** One line, which {@link #parse} reads back. */
    String line() {
        return JSON.writeValueAsString(this);
    }

    static Usage parse(String line) {
        return JSON.readValue(line, Usage.class);
    }

    /** The cells of its row behind the method's name. */
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
