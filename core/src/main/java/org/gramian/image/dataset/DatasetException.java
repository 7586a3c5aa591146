package org.gramian.image.dataset;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.gramian.basis.QuotedText;
import org.jspecify.annotations.Nullable;

/**
 * Thrown for a dataset that cannot be opened; the message is for the user: {@code PATH: what was expected, what was found}.
 *
 * @since 0.1
 */
public final class DatasetException extends IOException {
    private static final long serialVersionUID = 1L;

    private final transient @Nullable Dataset dataset;

    /** A problem with a folder or a file. */
    public DatasetException(Path place, String problem) {
        super(QuotedText.visible(place + ": " + problem));
        this.dataset = null;
    }

    /** A dataset that was read but cannot be trained on. */
    public DatasetException(Path place, String problem, Dataset dataset) {
        super(QuotedText.visible(place + ": " + problem));
        this.dataset = dataset;
    }

    /** A problem that another exception reported. */
    public DatasetException(Path place, String problem, Throwable cause) {
        super(QuotedText.visible(place + ": " + problem), cause);
        this.dataset = null;
    }

    /** Returns the dataset as far as it was read. */
    public Optional<Dataset> dataset() {
        return Optional.ofNullable(dataset);
    }
}
