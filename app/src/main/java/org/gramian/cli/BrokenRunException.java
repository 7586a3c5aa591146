package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;

/** A run that failed, as on a full disk, after some of it was kept: it can go on. */
final class BrokenRunException extends IOException {
    private static final long serialVersionUID = 1L;

    BrokenRunException(IOException reason, Path folder) {
        super(
                Failures.sentence(reason)
                        + "; what was kept before is whole: mend this and go on by: "
                        + CommandHint.of("train", "--resume", folder),
                reason);
    }
}
