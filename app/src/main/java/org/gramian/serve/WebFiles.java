package org.gramian.serve;

import io.javalin.http.Context;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

/** The web page, from {@code web/} in the jar. Only names of plain words are looked up, so that no path leads elsewhere. */
final class WebFiles {
    private static final String FOLDER = "web/";
    private static final Pattern NAME =
            Pattern.compile("(?:[a-zA-Z0-9_-]{1,40}/){0,3}[a-zA-Z0-9_-]{1,40}\\.[a-z0-9]{1,8}");
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "json", "application/json",
            "svg", "image/svg+xml",
            "png", "image/png",
            "jpg", "image/jpeg",
            "ico", "image/x-icon",
            "webmanifest", "application/manifest+json");

    private WebFiles() {}

    /** Sends the OpenAPI document. */
    static void document(Context context) throws IOException {
        try (InputStream file = Objects.requireNonNull(WebFiles.class.getResourceAsStream("openapi.json"))) {
            context.contentType(ResponseJson.TYPE).result(file.readAllBytes());
        }
    }

    static void answer(Context context) throws HttpError, IOException {
        String path = context.path().equals("/") ? "/index.html" : context.path();
        String name = path.substring(1);
        Optional<String> type = Optional.ofNullable(TYPES.get(name.substring(name.lastIndexOf('.') + 1)));
        if (!NAME.matcher(name).matches() || type.isEmpty()) {
            throw HttpError.notFound();
        }
        try (InputStream file = WebFiles.class.getClassLoader().getResourceAsStream(FOLDER + name)) {
            if (file == null) {
                throw HttpError.notFound();
            }
            context.contentType(type.get()).header("Cache-Control", "no-cache").result(file.readAllBytes());
        }
    }
}
