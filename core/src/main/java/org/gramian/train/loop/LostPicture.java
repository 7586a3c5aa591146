package org.gramian.train.loop;

import java.io.UncheckedIOException;
import org.gramian.image.Reading.Unreadable;
import org.gramian.image.dataset.Sample;
import org.gramian.model.UnreadablePictureException;

/** What is thrown in the midst of training when a picture is gone or spoilt that could be read when the run was planned. */
final class LostPicture {
    private LostPicture() {}

    static UncheckedIOException of(Sample sample, Unreadable problem) {
        String reason = "it was readable before and no longer is: " + problem.reason();
        return new UncheckedIOException(
                new UnreadablePictureException(sample.file(), new Unreadable(problem.problem(), reason)));
    }
}
