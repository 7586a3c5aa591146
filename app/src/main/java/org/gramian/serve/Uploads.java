package org.gramian.serve;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.eclipse.jetty.http.MultiPart;
import org.eclipse.jetty.http.MultiPartFormData;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.content.ByteBufferContentSource;
import org.eclipse.jetty.util.Promise;
import org.gramian.basis.QuotedText;
import org.jspecify.annotations.Nullable;

/**
 * The images of a request's body: the body itself, or the file parts of a form. All in memory: none becomes a file.
 *
 * <p>A form's parts are separated by Jetty's parser, from a body that is complete already.
 */
final class Uploads {
    private static final String FORM = "multipart/form-data";
    private static final String BYTES = "application/octet-stream";
    private static final String NAMELESS = "image";
    private static final int LONGEST_NAME = 255;
    private static final int LONGEST_BOUNDARY = 200;
    private static final int LONGEST_PART_HEADERS = 8 << 10;

    private Uploads() {}

    /** Whether a body of this type is taken at all; asked before the body is read. */
    static String accepted(@Nullable String contentType) throws HttpError {
        String type =
                contentType == null ? "" : contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        if (type.startsWith("image/") || type.equals(BYTES) || type.equals(FORM)) {
            return type;
        }
        throw new HttpError(
                415,
                "unsupported-type",
                "expected a body of type image/*, " + BYTES + " or " + FORM + ", found "
                        + (type.isEmpty() ? "none" : QuotedText.text(type)));
    }

    /** Whether a body of this type may have several images. */
    static boolean isForm(@Nullable String contentType) throws HttpError {
        return accepted(contentType).equals(FORM);
    }

    /** The images, at least one. */
    static List<Upload> of(@Nullable String contentType, byte[] body, Limits.Upload limits) throws HttpError {
        if (!isForm(contentType)) {
            return List.of(new Upload(NAMELESS, body));
        }
        String boundary = MultiPart.extractBoundary(String.valueOf(contentType));
        if (boundary == null || boundary.isEmpty() || boundary.length() > LONGEST_BOUNDARY) {
            throw HttpError.wrong("expected " + FORM + " with a valid boundary, found none");
        }
        MultiPartFormData.Parser parser = new MultiPartFormData.Parser(boundary);
        parser.setMaxParts(limits.images());
        parser.setPartHeadersMaxLength(LONGEST_PART_HEADERS);
        parser.setMaxMemoryFileSize(-1); // all parts stay in memory, of which the body's limit says how much
        CompletableFuture<MultiPartFormData.Parts> parsed = new CompletableFuture<>();
        parser.parse(new ByteBufferContentSource(ByteBuffer.wrap(body)), Promise.Invocable.toPromise(parsed));
        try (MultiPartFormData.Parts parts = parsed.join()) {
            return uploads(parts);
        } catch (CompletionException | IllegalStateException | IllegalArgumentException | IOException _) {
            throw HttpError.wrong("expected a form (" + FORM + ") of at most " + limits.images()
                    + " complete parts, found a malformed form or more parts");
        }
    }

    private static List<Upload> uploads(MultiPartFormData.Parts parts) throws HttpError, IOException {
        List<Upload> uploads = new ArrayList<>();
        for (MultiPart.Part part : parts) {
            if (part.getFileName() == null) {
                throw HttpError.wrong("expected file parts, found " + QuotedText.text(name(part.getName()))
                        + " without a file name; pass options in the URL, e.g. ?top=3");
            }
            uploads.add(new Upload(name(part.getFileName()), bytes(part)));
        }
        if (uploads.isEmpty()) {
            throw HttpError.wrong("expected a form with at least one file, found none");
        }
        return uploads;
    }

    private static byte[] bytes(MultiPart.Part part) throws IOException {
        ByteBuffer content = Content.Source.asByteBuffer(part.getContentSource());
        byte[] bytes = new byte[content.remaining()];
        content.get(bytes);
        return bytes;
    }

    private static String name(@Nullable String sent) {
        String name = Optional.ofNullable(sent).filter(text -> !text.isBlank()).orElse(NAMELESS);
        return QuotedText.visible(name.substring(0, Math.min(name.length(), LONGEST_NAME)));
    }
}
