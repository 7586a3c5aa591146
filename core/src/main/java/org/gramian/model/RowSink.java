package org.gramian.model;

import org.gramian.image.ReadResult.Unreadable;

/** Takes what a model computed of images, in their order. */
public interface RowSink {
    /**
     * Takes the rows of one image, of each of its crops in order.
     *
     * @param sample index of the image
     * @param rows scores or a descriptor for each crop
     */
    void rows(int sample, float[][] rows);

    /** Takes notice of an image that has none. */
    void unreadable(int sample, Unreadable problem);
}
