package org.gramian.spark.train;

import java.io.Serializable;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;

/**
 * What features of crops look like in memory.
 *
 * @param crops of each image
 * @param shape {@code [c, h, w]}
 * @param type in which they are kept
 */
@SuppressWarnings("ArrayRecordComponent") // handed on and never compared
record FeatureForm(int crops, long[] shape, DType type) implements Serializable {
    /** Of so many rows {@code [n, c, h, w]}. */
    Shape rows(int count) {
        return Shape.of(count, shape[0], shape[1], shape[2]);
    }

    /** Bytes of one feature. */
    long bytes() {
        return rows(1).elements() * type.bytes();
    }
}
