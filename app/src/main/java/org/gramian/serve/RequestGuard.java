package org.gramian.serve;

import static java.util.Map.entry;

import io.javalin.http.Context;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.gramian.basis.QuotedText;
import org.jspecify.annotations.Nullable;

/**
 * Checks host, origin, token, path and method of a request, and sets the security headers of every response.
 *
 * <ul>
 *   <li>A local server refuses other host names (DNS rebinding).
 *   <li>Cross-origin requests are refused.
 *   <li>{@code /v1} and {@code /metrics} require the token, if there is one; it is compared in constant time.
 * </ul>
 */
record RequestGuard(ServeOptions options) {
    static final String PREDICT = "/v1/predict";
    static final String EMBED = "/v1/embed";
    static final String MODEL = "/v1/model";
    static final String HEALTH = "/health";
    static final String METRICS = "/metrics";
    static final String OPENAPI = "/openapi.json";

    private static final String GET = "GET";
    private static final Map<String, String> METHODS =
            Map.of(PREDICT, "POST", EMBED, "POST", MODEL, GET, HEALTH, GET, METRICS, GET, OPENAPI, GET, "/", GET);
    private static final Set<String> OWN_NAMES = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final String BEARER = "bearer ";
    private static final Map<String, String> HEADERS = Map.ofEntries(
            entry(
                    "Content-Security-Policy",
                    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src"
                            + " 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none';"
                            + " frame-ancestors 'none'"),
            entry("X-Content-Type-Options", "nosniff"),
            entry("X-Frame-Options", "DENY"),
            entry("Referrer-Policy", "no-referrer"),
            entry("Cross-Origin-Resource-Policy", "same-origin"),
            entry("Cross-Origin-Opener-Policy", "same-origin"),
            entry("Cache-Control", "no-store"));

    void check(Context context) throws HttpError {
        HEADERS.forEach(context::header);
        String host = context.header("Host");
        if (options.isLocal() && !OWN_NAMES.contains(name(host))) {
            throw HttpError.wrong("expected a request to localhost, found one "
                    + (host == null ? "without a Host header" : "to " + QuotedText.text(host))
                    + "; start the server with --host to accept other host names");
        }
        String origin = context.header("Origin");
        if (origin != null && !authority(origin).equalsIgnoreCase(host)) {
            throw new HttpError(403, "other-origin", "expected a same-origin request, found a cross-origin one");
        }
        boolean isProtected = context.path().startsWith("/v1") || context.path().startsWith("/metrics");
        if (options.token().isPresent()
                && isProtected
                && !isKnown(Collections.list(context.req().getHeaders("Authorization")))) {
            context.header("WWW-Authenticate", "Bearer");
            throw new HttpError(
                    401, "token", "expected one header 'Authorization: Bearer TOKEN' with this server's token");
        }
        checkMethod(context);
    }

    private static void checkMethod(Context context) throws HttpError {
        String found = context.req().getMethod();
        String expected = METHODS.getOrDefault(context.path(), GET);
        if (found.equals(expected) || (expected.equals(GET) && found.equals("HEAD"))) {
            return;
        }
        if (!METHODS.containsKey(context.path())) {
            throw HttpError.notFound();
        }
        context.header("Allow", expected.equals(GET) ? "GET, HEAD" : expected);
        throw new HttpError(405, "wrong-method", "expected the method " + expected);
    }

    /** Returns the path for metrics: {@code other} if it is not an endpoint, so that the number of tags is bounded. */
    static String route(String path) {
        return METHODS.containsKey(path) ? path : "other";
    }

    private boolean isKnown(List<String> authorizations) {
        if (authorizations.size() != 1
                || !authorizations.getFirst().toLowerCase(Locale.ROOT).startsWith(BEARER)) {
            return false;
        }
        byte[] given =
                authorizations.getFirst().substring(BEARER.length()).strip().getBytes(StandardCharsets.UTF_8);
        byte[] wanted = options.token().orElseThrow().getBytes(StandardCharsets.UTF_8);
        return MessageDigest.isEqual(wanted, given);
    }

    private static String name(@Nullable String host) {
        return host == null ? "" : host.replaceFirst(":\\d{1,5}$", "").toLowerCase(Locale.ROOT);
    }

    private static String authority(String origin) {
        try {
            return String.valueOf(URI.create(origin).getRawAuthority());
        } catch (IllegalArgumentException _) {
            return "";
        }
    }
}
