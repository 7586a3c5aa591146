package org.gramian.cli.common;

import java.io.IOException;
import java.nio.file.Path;

/** A run that failed with a checkpoint, as on a full disk, and can be resumed. */
public final class BrokenRunException extends IOException {
    private static final long serialVersionUID = 1L;

    public BrokenRunException(IOException reason, Path folder) {
        super(
                Failures.sentence(reason)
                        + "; the last checkpoint is intact; fix this and resume with: "
                        + CommandHint.of("train", "--resume", folder),
                reason);
    }
}
