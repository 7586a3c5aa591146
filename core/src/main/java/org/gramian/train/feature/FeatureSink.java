package org.gramian.train.feature;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.gramian.image.ReadResult.Unreadable;

/** Takes features in the order of the images and their crops. */
public interface FeatureSink {
    /**
     * Takes one feature.
     *
     * @param sample index of the image
     * @param crop index of the crop
     * @param feature {@code [c, h, w]}; to be read only, and only during this call, unless it is {@linkplain
     *     MemorySegment#isMapped() mapped}: then it lies in the cache and stays
     */
    void feature(int sample, int crop, MemorySegment feature) throws IOException;

    /** Takes notice, once, of an image that has no features. */
    void unreadable(int sample, Unreadable problem) throws IOException;
}
