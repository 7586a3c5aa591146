package org.gramian.serve;

import io.javalin.http.Context;
import jakarta.servlet.http.HttpServletRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.MultiPart;
import org.eclipse.jetty.http.MultiPartFormData;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.content.ByteBufferContentSource;
import org.eclipse.jetty.util.Promise;
import org.gramian.basis.QuotedText;
import org.gramian.serve.ServeOptions.Limits;
import org.jspecify.annotations.Nullable;

/**
 * Reads the images of a request: the body itself, or the file parts of a form. All stays in memory; nothing is written to
 * disk.
 */
final class RequestBody {
    /** Longest pause within a body; enforced by Jetty. */
    static final Duration MAX_PAUSE = Duration.ofSeconds(10);

    private static final int PIECE = 1 << 16;
    /** How long the body of a refused request is still read, so that the client gets the response. */
    private static final Duration LINGER = Duration.ofSeconds(2);

    private static final String FORM = "multipart/form-data";
    private static final String BYTES = "application/octet-stream";

    /** Types of clients that say nothing of the content: {@code curl --data-binary} sends the third. The image says what it is. */
    private static final Set<String> UNTYPED = Set.of("", BYTES, "application/x-www-form-urlencoded");

    private static final String DEFAULT_NAME = "image";
    private static final int MAX_NAME = 255;
    private static final int MAX_BOUNDARY = 200;
    private static final int MAX_PART_HEADERS = 8 << 10;

    private RequestBody() {}

    @SuppressWarnings("ArrayRecordComponent") // never compared
    record UploadedImage(String name, byte[] content) {}

    static void check(Context context, Limits.Upload limits) throws HttpError {
        String type = type(context.contentType());
        if (!type.startsWith("image/") && !UNTYPED.contains(type) && !type.equals(FORM)) {
            throw new HttpError(
                    415,
                    "unsupported-type",
                    "expected a body of type image/*, " + BYTES + " or " + FORM + ", found " + QuotedText.text(type));
        }
        String encoding = context.header("Content-Encoding");
        if (encoding != null && !encoding.isBlank() && !encoding.strip().equalsIgnoreCase("identity")) {
            throw new HttpError(
                    415,
                    "unsupported-type",
                    "expected a body without Content-Encoding, found " + QuotedText.text(encoding.strip())
                            + "; images are compressed already: send them as they are");
        }
        if (context.req().getContentLengthLong() > limits.bytes()) {
            if (context.header("Expect") == null) { // else reading would ask the client for the body
                drain(context.req(), limits);
            }
            throw tooLarge(limits);
        }
    }

    private static String type(@Nullable String contentType) {
        return contentType == null ? "" : contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    }

    /** Returns whether a body of this type may have several images. */
    static boolean isForm(@Nullable String contentType) {
        return type(contentType).equals(FORM);
    }

    /** Reads a refused body for a moment: a client cut off while it sends would lose the response. */
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
        } catch (IOException _) {
            // The client is gone.
        }
    }

    /** Reads the body, reserving memory as it is received. */
    static byte[] read(HttpServletRequest request, Limits.Upload limits, Admission.Ticket ticket) throws HttpError {
        Deadline end = Deadline.in(limits.time());
        // The buffer grows with what is received, not with what is announced.
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
                if (end.isOver()) {
                    throw tooSlow(
                            "the whole request body within " + limits.time().toSeconds() + " s, found a slower upload");
                }
            }
        } catch (IOException broken) {
            throw broken.getCause() instanceof TimeoutException
                    ? tooSlow("more of the request body within " + MAX_PAUSE.toSeconds() + " s, received nothing")
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

    private static HttpError tooSlow(String expected) {
        return new HttpError(408, "too-slow", "expected " + expected);
    }

    static List<UploadedImage> images(@Nullable String contentType, byte[] body, Limits.Upload limits)
            throws HttpError {
        if (!isForm(contentType)) {
            return List.of(new UploadedImage(DEFAULT_NAME, body));
        }
        String boundary = MultiPart.extractBoundary(String.valueOf(contentType));
        if (boundary == null || boundary.isEmpty() || boundary.length() > MAX_BOUNDARY) {
            throw HttpError.wrong("expected " + FORM + " with a valid boundary, found none");
        }
        MultiPartFormData.Parser parser = new MultiPartFormData.Parser(boundary);
        parser.setMaxParts(limits.images());
        parser.setPartHeadersMaxLength(MAX_PART_HEADERS);
        parser.setMaxMemoryFileSize(-1); // all parts stay in memory
        CompletableFuture<MultiPartFormData.Parts> parsed = new CompletableFuture<>();
        parser.parse(new ByteBufferContentSource(ByteBuffer.wrap(body)), Promise.Invocable.toPromise(parsed));
        try (MultiPartFormData.Parts parts = parsed.join()) {
            return files(parts);
        } catch (CompletionException | IllegalStateException | IllegalArgumentException | IOException _) {
            throw HttpError.wrong("expected a form (" + FORM + ") of at most " + limits.images()
                    + " complete parts, found a malformed form or more parts");
        }
    }

    private static List<UploadedImage> files(MultiPartFormData.Parts parts) throws HttpError, IOException {
        List<UploadedImage> images = new ArrayList<>();
        for (MultiPart.Part part : parts) {
            if (part.getFileName() == null) {
                throw HttpError.wrong("expected file parts, found " + QuotedText.text(name(part.getName()))
                        + " without a file name; pass options in the URL, e.g. ?top=3");
            }
            ByteBuffer content = Content.Source.asByteBuffer(part.getContentSource());
            byte[] bytes = new byte[content.remaining()];
            content.get(bytes);
            images.add(new UploadedImage(name(part.getFileName()), bytes));
        }
        if (images.isEmpty()) {
            throw HttpError.wrong("expected a form with at least one file, found none");
        }
        return images;
    }

    private static String name(@Nullable String sent) {
        String name = Optional.ofNullable(sent).filter(text -> !text.isBlank()).orElse(DEFAULT_NAME);
        return QuotedText.visible(name.substring(0, Math.min(name.length(), MAX_NAME)));
    }
}
