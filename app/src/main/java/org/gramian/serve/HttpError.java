package org.gramian.serve;

import java.util.OptionalLong;

/** A request that is answered by an error: its status, a word for programs and a sentence for people. */
final class HttpError extends Exception {
    private static final long serialVersionUID = 1L;

    /** About how long the requests take that are answered meanwhile. */
    private static final long RETRY_WITHOUT_MEMORY_SECONDS = 5;

    private final int status;
    private final String code;
    private final long retryAfter;

    HttpError(int status, String code, String message) {
        this(status, code, message, 0);
    }

    private HttpError(int status, String code, String message, long retryAfter) {
        super(message, null, false, false); // it is an answer: nobody looks at where it came from
        this.status = status;
        this.code = code;
        this.retryAfter = retryAfter;
    }

    /** Too much at once; it may be tried again in so many seconds. */
    static HttpError busy(String message, long seconds) {
        return new HttpError(429, "busy", message, seconds);
    }

    static HttpError wrong(String message) {
        return new HttpError(400, "bad-request", message);
    }

    /** The server is about to end. */
    static HttpError stopping() {
        return new HttpError(503, "stopping", "the server is shutting down; retry later");
    }

    /** Memory did not suffice this time. */
    static HttpError noMemory() {
        return new HttpError(
                503,
                "no-memory",
                "out of memory; retry later, or with" + " smaller images",
                RETRY_WITHOUT_MEMORY_SECONDS);
    }

    /** libtorch gave up on something that it computes for others. */
    static HttpError notComputed() {
        return new HttpError(
                503,
                "not-computed",
                "libtorch failed, most often for lack of memory; see the server's log. Retry"
                        + " later, or with fewer images per request; a smaller --batch"
                        + " or more memory also helps",
                RETRY_WITHOUT_MEMORY_SECONDS);
    }

    int status() {
        return status;
    }

    String code() {
        return code;
    }

    String message() {
        return String.valueOf(getMessage());
    }

    /** Seconds, where trying again helps. */
    OptionalLong retryAfter() {
        return retryAfter > 0 ? OptionalLong.of(retryAfter) : OptionalLong.empty();
    }
}
