package org.gramian.model;

import java.util.Map;
import org.gramian.image.ReadResult.Unreadable;

/** Takes what one pass of a model computed of images, of every kind that was wanted, in the order of the images. */
public interface PassSink {
    /**
     * Takes the rows of one image.
     *
     * @param sample index of the image
     * @param rows for each kind, those of each of its crops in order
     */
    void rows(int sample, Map<Engine.Rows, float[][]> rows);

    /** Takes notice of an image that has none. */
    void unreadable(int sample, Unreadable problem);

    /** One that hands a single kind of rows on. */
    static PassSink of(RowSink sink, Engine.Rows wanted) {
        return new PassSink() {
            @Override
            public void rows(int sample, Map<Engine.Rows, float[][]> rows) {
                sink.rows(sample, Engine.rowsOf(rows, wanted));
            }

            @Override
            public void unreadable(int sample, Unreadable problem) {
                sink.unreadable(sample, problem);
            }
        };
    }
}
