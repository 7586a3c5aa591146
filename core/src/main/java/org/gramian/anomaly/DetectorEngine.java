package org.gramian.anomaly;

import org.gramian.image.Image;

/** Computes the score and the map of an image or tile: libtorch, or another runtime with the same network. */
public interface DetectorEngine extends AutoCloseable {
    /**
     * Score and map of one image.
     *
     * @param score 1 is typical of a good image
     * @param rows rows of the map
     * @param columns columns of the map
     * @param map scores row by row
     */
    @SuppressWarnings("ArrayRecordComponent") // made once, read once
    record Output(double score, int rows, int columns, float[] map) {}

    /** Computes one image or tile. */
    Output compute(Image image);

    @Override
    void close();
}
