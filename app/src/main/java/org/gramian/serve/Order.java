package org.gramian.serve;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.gramian.image.Picture;
import org.gramian.image.Reading.Unreadable;
import org.gramian.model.Engine;

/**
 * What is wanted of one picture.
 *
 * @param content of its file
 * @param lease of the model that answers
 * @param wanted which rows are computed
 * @param picture whether the decoded picture itself is needed afterwards
 */
@SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
record Order(byte[] content, ModelSlot.Lease lease, Set<Engine.Rows> wanted, boolean picture) {
    LoadedModel model() {
        return lease.model();
    }

    /** What came of it. */
    sealed interface Outcome {}

    /** A picture that cannot be read. */
    record Unread(Unreadable reason) implements Outcome {}

    /**
     * Rows of each crop.
     *
     * @param rows of every kind that was wanted
     * @param picture where it was wanted
     */
    record Computed(Map<Engine.Rows, float[][]> rows, Optional<Picture> picture) implements Outcome {
        float[][] of(Engine.Rows wanted) {
            float[][] found = rows.get(wanted);
            if (found == null) {
                throw new IllegalStateException("rows were used that were not ordered: " + wanted);
            }
            return found;
        }
    }
}
