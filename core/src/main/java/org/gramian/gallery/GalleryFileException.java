package org.gramian.gallery;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.basis.QuotedText;

/**
 * Thrown for a file that is not a usable gallery; the message is for the user: {@code FILE: what was expected, what was found; what
 * to try}.
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
