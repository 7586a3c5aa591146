package org.gramian.serve;

import java.util.Optional;
import java.util.Set;
import org.gramian.explain.CroppedImage;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;

/**
 * One image of a request.
 *
 * @param content of its file
 * @param lease of the model
 * @param wish rows to compute
 * @param ticket of the request, which accounts for the memory of the image
 */
@SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
record Order(byte[] content, ModelSlot.Lease lease, Wish wish, Admission.Ticket ticket) {
    /**
     * What to compute for every image of a request.
     *
     * @param rows rows to compute
     * @param explained whether the prediction is explained
     */
    record Wish(Set<Engine.Rows> rows, boolean explained) {
        /** Returns the bytes of an image's rows until they are sent; scores are too few to count. */
        long bytes(LoadedModel model) {
            long crops = model.classifier().crops();
            long numbers =
                    rows.contains(Engine.Rows.DESCRIPTORS) ? model.header().descriptorSize() : 0;
            return Float.BYTES * (crops + 1) * numbers; // those of the crops, and their mean
        }
    }

    LoadedModel model() {
        return lease.model();
    }

    /** Result of an image. */
    sealed interface Outcome {}

    /** An unreadable image. */
    record Unread(Unreadable reason) implements Outcome {}

    /**
     * An image that was computed.
     *
     * @param result rows of every requested kind
     * @param view input of the explanation, if one is requested
     */
    record Computed(ImageResult.Computed result, Optional<CroppedImage> view) implements Outcome {}
}
