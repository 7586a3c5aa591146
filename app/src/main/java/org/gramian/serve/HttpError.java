package org.gramian.serve;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.ByteBuffer;
import java.util.OptionalLong;
import java.util.UUID;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An error response {@code {"error": {"code", "message"}}}. The message of an internal error is only the id of its log entry. */
final class HttpError extends Exception {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(HttpError.class);

    private static final long RETRY_WITHOUT_MEMORY_SECONDS = 5;

    private final int status;
    private final String code;
    private final long retryAfter;

    HttpError(int status, String code, String message) {
        this(status, code, message, 0);
    }

    private HttpError(int status, String code, String message, long retryAfter) {
        super(message, null, false, false); // a response: no stack trace
        this.status = status;
        this.code = code;
        this.retryAfter = retryAfter;
    }

    static HttpError busy(String message, long retryAfterSeconds) {
        return new HttpError(429, "busy", message, retryAfterSeconds);
    }

    static HttpError wrong(String message) {
        return new HttpError(400, "bad-request", message);
    }

    static HttpError notFound() {
        return new HttpError(404, "not-found", "not found; /openapi.json lists all paths");
    }

    static HttpError stopping() {
        return new HttpError(503, "stopping", "the server is shutting down; retry later");
    }

    static HttpError noMemory() {
        return new HttpError(
                503, "no-memory", "out of memory; retry later, or with smaller images", RETRY_WITHOUT_MEMORY_SECONDS);
    }

    /** libtorch failed, most often for lack of memory. */
    static HttpError notComputed() {
        return new HttpError(
                503,
                "not-computed",
                "libtorch failed, most often for lack of memory; see the server's log. Retry"
                        + " later, or with fewer images per request; a smaller --batch"
                        + " or more memory also helps",
                RETRY_WITHOUT_MEMORY_SECONDS);
    }

    private static HttpError ofStatus(int status) {
        return switch (status) {
            case 404 -> notFound();
            case 405 -> new HttpError(405, "wrong-method", "method not allowed; see /openapi.json");
            case 413 -> new HttpError(413, "too-large", "the request is too large");
            default -> new HttpError(status, status < 500 ? "bad-request" : "internal", "invalid request");
        };
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

    /** Returns the seconds after which a retry may succeed, if it may. */
    OptionalLong retryAfter() {
        return retryAfter > 0 ? OptionalLong.of(retryAfter) : OptionalLong.empty();
    }

    /** Sends exceptions of the routes as error responses. */
    static void handle(RoutesConfig routes) {
        routes.exception(HttpError.class, (error, context) -> error.send(context));
        routes.exception(
                HttpResponseException.class,
                (wrong, context) -> ofStatus(wrong.getStatus()).send(context));
        routes.exception(Exception.class, (failed, context) -> {
            String id = UUID.randomUUID().toString();
            LOG.error("request {} failed", id, failed);
            new HttpError(500, "internal", "internal error; see the server's log for request " + id).send(context);
        });
    }

    private void send(Context context) {
        context.status(status);
        retryAfter().ifPresent(seconds -> context.header("Retry-After", Long.toString(seconds)));
        Api.answer(context, Api.error(code, message()));
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
            HttpError error = ofStatus(response.getStatus());
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, Api.TYPE);
            response.getHeaders().put("X-Content-Type-Options", "nosniff");
            byte[] body = Api.bytes(Api.error(error.code(), error.message()));
            response.write(true, ByteBuffer.wrap(body), callback);
            return true;
        }
    }
}
