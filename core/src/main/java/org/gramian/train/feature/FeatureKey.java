package org.gramian.train.feature;

import java.nio.ByteBuffer;

/** What a feature is found by: the SHA-256 of everything that it depends on, made by {@link FeatureRecipe#key}. */
record FeatureKey(long first, long second, long third, long fourth) {
    static final int BYTES = 4 * Long.BYTES;

    static FeatureKey of(byte[] hash) {
        return read(ByteBuffer.wrap(hash));
    }

    /** Reads from the position of a buffer in the usual, big-endian order. */
    static FeatureKey read(ByteBuffer bytes) {
        return new FeatureKey(bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong());
    }

    void write(ByteBuffer bytes) {
        bytes.putLong(first).putLong(second).putLong(third).putLong(fourth);
    }
}
