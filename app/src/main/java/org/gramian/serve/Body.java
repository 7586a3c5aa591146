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

    private Body() {}

    /** The most bytes that a request's body may turn out to have, from what it says of itself. */
    static long most(HttpServletRequest request, Limits.Upload limits) throws Refusal {
        long announced = request.getContentLengthLong();
        if (announced > limits.bytes()) {
            throw tooLarge(limits);
        }
        return announced < 0 ? limits.bytes() : announced;
    }

    /** All of it. */
    static byte[] read(HttpServletRequest request, Limits.Upload limits) throws Refusal {
        long announced = most(request, limits);
        long start = System.nanoTime();
        // What is announced is not believed before it comes: the buffer grows with what is there.
        ByteArrayOutputStream body = new ByteArrayOutputStream((int) Math.min(announced, PIECE));
        byte[] piece = new byte[PIECE];
        try {
            InputStream in = request.getInputStream();
            for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                body.write(piece, 0, count);
                if (body.size() > limits.bytes()) {
                    throw tooLarge(limits);
                }
                if (Duration.ofNanos(System.nanoTime() - start).compareTo(limits.time()) > 0) {
                    throw tooSlow(limits);
                }
            }
        } catch (IOException broken) {
            throw broken.getCause() instanceof TimeoutException
                    ? tooSlow(limits)
                    : Refusal.wrong("the body ended before it was complete");
        }
        return body.toByteArray();
    }

    private static Refusal tooLarge(Limits.Upload limits) {
        return new Refusal(
                413,
                "too-large",
                "expected a body of at most " + limits.bytes() + " bytes, found more; send fewer or smaller pictures");
    }

    private static Refusal tooSlow(Limits.Upload limits) {
        return new Refusal(
                408,
                "too-slow",
                "expected the whole body within " + limits.time().toSeconds() + " s, found that it came too slowly");
    }
}
