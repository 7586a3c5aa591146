package org.gramian.serve;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import jakarta.servlet.http.HttpServletResponse;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything that goes wrong as an answer: {@code {"error": {"code", "message"}}}. What a request did wrong is said; what we did
 * wrong goes to the log, under a number that the answer names.
 */
final class Problems {
    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    private Problems() {}

    static void handle(RoutesConfig routes) {
        routes.exception(HttpError.class, (refusal, context) -> refuse(refusal, context));
        routes.exception(HttpResponseException.class, (wrong, context) -> refuse(refusal(wrong.getStatus()), context));
        routes.exception(Exception.class, (failed, context) -> fail(failed, context));
    }

    private static void refuse(HttpError refusal, Context context) {
        context.status(refusal.status());
        refusal.retryAfter().ifPresent(seconds -> context.header("Retry-After", Long.toString(seconds)));
        Json.answer(context, Json.error(refusal.code(), refusal.message()));
    }

    private static void fail(Throwable failed, Context context) {
        String id = UUID.randomUUID().toString();
        LOG.error("request {} failed", id, failed);
        context.status(500);
        Json.answer(context, Json.error("internal", "internal error; see the server's log for request " + id));
    }

    /** What is left when Java itself gives up, as for want of memory. */
    static void fatal(HttpServletResponse response, Error failed) {
        LOG.error("a request failed", failed);
        response.setStatus(failed instanceof OutOfMemoryError ? 503 : 500);
    }

    /** What Javalin itself finds wrong. */
    static HttpError refusal(int status) {
        return switch (status) {
            case 404 -> Addresses.missing();
            case 405 -> new HttpError(405, "wrong-method", "method not allowed; see /openapi.json");
            case 413 -> new HttpError(413, "too-large", "the request is too large");
            default -> new HttpError(status, status < 500 ? "bad-request" : "internal", "invalid request");
        };
    }
}
