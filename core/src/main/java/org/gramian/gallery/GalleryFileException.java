package org.gramian.gallery;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.basis.QuotedText;

/**
 * A file that is no gallery that can be used; the message reads {@code FILE: what was expected, what was found; what to
 * try}, and is meant for the user as it stands.
 */
public final class GalleryFileException extends IOException {
    private static final long serialVersionUID = 1L;

    GalleryFileException(Path file, String problem) {
        super(QuotedText.visible(file + ": " + problem));
    }

    GalleryFileException(Path file, String problem, Throwable cause) {
        super(QuotedText.visible(file + ": " + problem), cause);
    }
}
