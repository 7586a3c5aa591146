package org.gramian.serve;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.gramian.explain.CroppedImage;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.Engine;

/**
 * What is wanted of one image.
 *
 * @param content of its file
 * @param lease of the model that answers
 * @param wish what is computed
 * @param ticket of the request, for room for what is kept of the image
 */
@SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
record Order(byte[] content, ModelSlot.Lease lease, Wish wish, Admission.Ticket ticket) {
    /**
     * What is computed of every image of a request.
     *
     * @param rows which rows
     * @param explained whether a decision is to be explained afterwards
     */
    record Wish(Set<Engine.Rows> rows, boolean explained) {
        /** What an image's rows take until they are told; its scores are too few to count. */
        long bytes(LoadedModel model) {
            long crops = model.header().card().crops().testing().count();
            long numbers =
                    rows.contains(Engine.Rows.DESCRIPTORS) ? model.header().descriptorSize() : 0;
            return Float.BYTES * (crops + 1) * numbers; // those of the crops, and their mean
        }
    }

    LoadedModel model() {
        return lease.model();
    }

    /** What came of it. */
    sealed interface Outcome {}

    /** An image that cannot be read. */
    record Unread(Unreadable reason) implements Outcome {}

    /**
     * Rows of each crop.
     *
     * @param rows of every kind that was wanted
     * @param view what an explanation needs, where one is wanted
     */
    record Computed(Map<Engine.Rows, float[][]> rows, Optional<CroppedImage> view) implements Outcome {
        float[][] of(Engine.Rows wanted) {
            float[][] found = rows.get(wanted);
            if (found == null) {
                throw new IllegalStateException("a result was requested that was not computed: " + wanted);
            }
            return found;
        }
    }
}
