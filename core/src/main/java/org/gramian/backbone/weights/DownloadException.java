package org.gramian.backbone.weights;

import java.io.IOException;

/** A download that failed, and what that means for people who want the file all the same. */
final class DownloadException extends IOException {
    private static final long serialVersionUID = 1L;

    /** What kind of failure it is. */
    enum Kind {
        /** The server cannot be reached, or falls silent: another machine may do better. */
        NO_CONNECTION,
        /** The server does not give the file: another place may have it. */
        NOT_THERE,
        /** The file is another one, or there is no room for it: fetching it elsewhere changes nothing. */
        OTHER
    }

    private final Kind kind;

    DownloadException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    DownloadException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    Kind kind() {
        return kind;
    }
}
