package org.gramian.model;

import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.gramian.image.ReadResult.Unreadable;
import org.jspecify.annotations.Nullable;

/** Puts rows of crops together to rows of images, which are handed on once complete. */
final class ImageRows {
    private final int crops;
    private final PassSink sink;
    private final LongConsumer progress;
    private final Map<Engine.Rows, float[][]> rows = new EnumMap<>(Engine.Rows.class);
    private int filled;
    private @Nullable Unreadable problem;

    ImageRows(int crops, PassSink sink, LongConsumer progress) {
        this.crops = crops;
        this.sink = sink;
        this.progress = progress;
    }

    /** Takes the rows of the next crop: those at a place of a batch that was computed. */
    void add(int sample, Map<Engine.Rows, float[][]> batch, int at, Optional<Unreadable> trouble) {
        batch.forEach((kind, each) -> rows.computeIfAbsent(kind, _ -> new float[crops][])[filled] = each[at]);
        filled++;
        problem = trouble.orElse(problem);
        if (filled == crops) {
            if (problem == null) {
                sink.rows(sample, Map.copyOf(rows));
            } else {
                sink.unreadable(sample, problem);
            }
            rows.clear();
            filled = 0;
            problem = null;
            progress.accept(sample + 1L);
        }
    }
}
