package org.gramian.serve;

import jakarta.servlet.http.HttpServletRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** Reads the body of a request into memory, within its limits of size and time. */
final class Body {
    private static final int PIECE = 1 << 16;

    /** The longest silence within a body; Jetty ends it. */
    static final Duration SILENCE = Duration.ofSeconds(10);

    /** How long what is refused is still taken, up to as much as is allowed once more. */
    private static final Duration LINGER = Duration.ofSeconds(2);

    private Body() {}

    /** Refuses a body that announces too much; asked before anything of it is read. */
    static void check(HttpServletRequest request, Limits.Upload limits) throws HttpError {
        if (request.getContentLengthLong() > limits.bytes()) {
            drain(request, limits);
            throw tooLarge(limits);
        }
    }

    /**
     * Takes what a client is still sending, for a moment: one that is cut off while it sends loses the answer with the
     * connection.
     */
    private static void drain(HttpServletRequest request, Limits.Upload limits) {
        long start = System.nanoTime();
        byte[] piece = new byte[PIECE];
        try {
            InputStream in = request.getInputStream();
            long left = limits.bytes();
            for (int count = in.read(piece); count >= 0 && left > 0; count = in.read(piece)) {
                left -= count;
                if (System.nanoTime() - start > LINGER.toNanos()) {
                    return;
                }
            }
        } catch (IOException gone) {
            // nobody is left to be answered
        }
    }

    /** All of it, for which the ticket gets room as it comes. */
    static byte[] read(HttpServletRequest request, Limits.Upload limits, Admission.Ticket ticket) throws HttpError {
        long start = System.nanoTime();
        // What is announced is not believed before it comes: the buffer grows with what is there.
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        byte[] piece = new byte[PIECE];
        try {
            InputStream in = request.getInputStream();
            for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                if (body.size() + count > limits.bytes()) {
                    drain(request, limits);
                    throw tooLarge(limits);
                }
                ticket.bytes(count);
                body.write(piece, 0, count);
                if (Duration.ofNanos(System.nanoTime() - start).compareTo(limits.time()) > 0) {
                    throw tooSlow(limits);
                }
            }
        } catch (IOException broken) {
            throw broken.getCause() instanceof TimeoutException
                    ? silent()
                    : HttpError.wrong("the request body is incomplete");
        }
        return body.toByteArray();
    }

    private static HttpError tooLarge(Limits.Upload limits) {
        return new HttpError(
                413,
                "too-large",
                "expected a request body of at most " + limits.bytes()
                        + " bytes, found more; send fewer or smaller images");
    }

    private static HttpError tooSlow(Limits.Upload limits) {
        return new HttpError(
                408,
                "too-slow",
                "expected the whole request body within " + limits.time().toSeconds() + " s, found a slower upload");
    }

    private static HttpError silent() {
        return new HttpError(
                408,
                "too-slow",
                "expected more of the request body within " + SILENCE.toSeconds() + " s, received nothing");
    }
}
