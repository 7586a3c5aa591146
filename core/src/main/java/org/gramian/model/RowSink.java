package org.gramian.model;

import org.gramian.image.Reading.Unreadable;

/** Takes what a model computed of pictures, in their order. */
public interface RowSink {
    /**
     * Takes the rows of one picture, of each of its crops in order.
     *
     * @param sample index of the picture
     * @param rows scores or a descriptor for each crop
     */
    void rows(int sample, float[][] rows);

    /** Takes notice of a picture that has none. */
    void unreadable(int sample, Unreadable problem);
}
