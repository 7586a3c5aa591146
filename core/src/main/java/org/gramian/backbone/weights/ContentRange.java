package org.gramian.backbone.weights;

import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which part of a file an answer holds.
 *
 * @param start number of the first byte
 * @param total bytes of the whole file, or -1 if the server does not say
 */
record ContentRange(long start, long total) {
    private static final Pattern FORM = Pattern.compile("bytes (?:(\\d{1,18})-\\d{1,18}|\\*)/(\\d{1,18}|\\*)");

    static ContentRange of(HttpResponse<?> response) {
        String header = response.headers().firstValue("Content-Range").orElse("");
        Matcher range = FORM.matcher(header);
        if (range.matches()) {
            long start = range.group(1) == null ? 0 : Long.parseLong(range.group(1));
            return new ContentRange(start, range.group(2).equals("*") ? -1 : Long.parseLong(range.group(2)));
        }
        String length = response.headers().firstValue("Content-Length").orElse("");
        return new ContentRange(0, length.matches("\\d{1,18}") ? Long.parseLong(length) : -1);
    }
}
