package org.gramian.serve;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Error responses: {@code {"error": {"code", "message"}}}. An error of the request has a message that explains it; an internal
 * error is logged under an id that the response has.
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

    /** Handles an {@link Error}, e.g. out of memory: logs it and sets the status only. */
    static void fatal(HttpServletResponse response, Error failed) {
        LOG.error("a request failed", failed);
        response.setStatus(failed instanceof OutOfMemoryError ? 503 : 500);
    }

    /** Reports requests that Jetty refuses, e.g. for long headers, without its own error page. */
    static final class JettyErrors extends ErrorHandler {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            HttpError refusal = refusal(response.getStatus());
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, Json.TYPE);
            response.getHeaders().put("X-Content-Type-Options", "nosniff");
            response.write(true, ByteBuffer.wrap(Json.bytes(Json.error(refusal.code(), refusal.message()))), callback);
            return true;
        }
    }

    /** Returns the error for a status of Javalin or Jetty. */
    static HttpError refusal(int status) {
        return switch (status) {
            case 404 -> Addresses.missing();
            case 405 -> new HttpError(405, "wrong-method", "method not allowed; see /openapi.json");
            case 413 -> new HttpError(413, "too-large", "the request is too large");
            default -> new HttpError(status, status < 500 ? "bad-request" : "internal", "invalid request");
        };
    }
}
