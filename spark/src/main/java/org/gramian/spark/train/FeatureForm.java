package org.gramian.spark.train;

import java.io.Serializable;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;

/**
 * Layout of the features of crops.
 *
 * @param crops per image
 * @param shape {@code [c, h, w]}
 * @param type of the elements
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record FeatureForm(int crops, long[] shape, DType type) implements Serializable {
    /** Returns the shape of a number of crops, {@code [n, c, h, w]}. */
    Shape rows(int count) {
        return Shape.of(count, shape[0], shape[1], shape[2]);
    }

    /** Returns the bytes of one crop. */
    long bytes() {
        return rows(1).elements() * type.bytes();
    }
}
