package org.gramian.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.RowSink;
import org.gramian.model.Scoring;

/**
 * Hands descriptors on to the file that {@code gramian embed} writes.
 *
 * @param file where rows go
 * @param crops which rows
 */
record DescriptorSink(FeatureOutput file, Crops crops) implements RowSink {
    /** What becomes of the crops of one image. */
    enum Crops {
        /** One row: their mean. */
        MEAN,
        /** A row for each. */
        EACH
    }

    @Override
    public void rows(int sample, float[][] rows) {
        float[][] kept = crops == Crops.MEAN ? new float[][] {Scoring.mean(rows)} : rows;
        try {
            for (int crop = 0; crop < kept.length; crop++) {
                file.feature(sample, crop, bytes(kept[crop]));
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void unreadable(int sample, Unreadable problem) {
        file.unreadable(sample, problem);
    }

    private static MemorySegment bytes(float[] row) {
        ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * row.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(row);
        return MemorySegment.ofArray(bytes.array());
    }
}
