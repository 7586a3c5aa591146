package org.gramian.train.loop;

import java.io.UncheckedIOException;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.dataset.Sample;
import org.gramian.model.UnreadableImageException;

/** Creates the exception for an image that was readable when the run was planned and no longer is. */
final class MissingImage {
    private MissingImage() {}

    static UncheckedIOException of(Sample sample, Unreadable problem) {
        String reason = "it was readable before and no longer is: " + problem.reason();
        return new UncheckedIOException(
                new UnreadableImageException(sample.file(), new Unreadable(problem.problem(), reason)));
    }
}
