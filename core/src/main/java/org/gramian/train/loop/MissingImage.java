package org.gramian.train.loop;

import java.io.UncheckedIOException;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.dataset.Sample;
import org.gramian.model.UnreadableImageException;

/** What is thrown in the midst of training when an image is gone or spoilt that could be read when the run was planned. */
final class MissingImage {
    private MissingImage() {}

    static UncheckedIOException of(Sample sample, Unreadable problem) {
        String reason = "it was readable before and no longer is: " + problem.reason();
        return new UncheckedIOException(
                new UnreadableImageException(sample.file(), new Unreadable(problem.problem(), reason)));
    }
}
