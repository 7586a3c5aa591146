package org.gramian.model;

import java.util.Optional;
import java.util.function.LongConsumer;
import org.gramian.image.Reading.Unreadable;
import org.jspecify.annotations.Nullable;

/** Puts rows of crops together to rows of pictures, which are handed on once complete. */
final class PictureRows {
    private final float[][] rows;
    private final RowSink sink;
    private final LongConsumer progress;
    private int filled;
    private @Nullable Unreadable problem;

    PictureRows(int crops, RowSink sink, LongConsumer progress) {
        this.rows = new float[crops][];
        this.sink = sink;
        this.progress = progress;
    }

    /** Takes the next crop's row. */
    void add(int sample, float[] row, Optional<Unreadable> trouble) {
        rows[filled] = row;
        filled++;
        problem = trouble.orElse(problem);
        if (filled == rows.length) {
            if (problem == null) {
                sink.rows(sample, rows.clone());
            } else {
                sink.unreadable(sample, problem);
            }
            filled = 0;
            problem = null;
            progress.accept(sample + 1L);
        }
    }
}
