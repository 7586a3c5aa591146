package org.gramian.backbone.weights;

import java.io.IOException;

/** Thrown if a download fails. */
final class DownloadException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Kind of failure. */
    enum Kind {
        /** The server is unreachable or stalls; another machine may succeed. */
        NO_CONNECTION,
        /** The server does not have the file; another server may. */
        NOT_THERE,
        /** The file is wrong or does not fit on the disk; downloading it elsewhere does not help. */
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
