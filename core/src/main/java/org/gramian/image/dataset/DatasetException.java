package org.gramian.image.dataset;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A data set that cannot be opened; the message reads {@code PLACE: what was expected, what was found}, and is meant
 * for the user as it stands.
 */
public final class DatasetException extends IOException {
    private static final long serialVersionUID = 1L;

    /** A problem with a folder or a file. */
    public DatasetException(Path place, String problem) {
        super(place + ": " + problem);
    }

    /** A problem that another exception reported. */
    public DatasetException(Path place, String problem, Throwable cause) {
        super(place + ": " + problem, cause);
    }
}
