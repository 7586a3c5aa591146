package org.gramian.model;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.basis.Found;

/**
 * A file that is no model that can be used; the message reads {@code FILE: what was expected, what was found; what to
 * try}, and is meant for the user as it stands.
 */
public final class ModelFileException extends IOException {
    private static final long serialVersionUID = 1L;

    public ModelFileException(Path file, String problem) {
        super(Found.visible(file + ": " + problem));
    }

    public ModelFileException(Path file, String problem, Throwable cause) {
        super(Found.visible(file + ": " + problem), cause);
    }
}
