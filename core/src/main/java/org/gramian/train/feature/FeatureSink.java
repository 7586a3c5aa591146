package org.gramian.train.feature;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.gramian.image.Reading.Unreadable;

/** Takes features in the order of the pictures and their crops. */
public interface FeatureSink {
    /**
     * Takes one feature.
     *
     * @param sample index of the picture
     * @param crop index of the crop
     * @param feature {@code [c, h, w]}; to be read only, and only during this call, unless it is {@linkplain
     *     MemorySegment#isMapped() mapped}: then it lies in the cache and stays
     */
    void feature(int sample, int crop, MemorySegment feature) throws IOException;

    /** Takes notice, once, of a picture that has no features. */
    void unreadable(int sample, Unreadable problem) throws IOException;
}
