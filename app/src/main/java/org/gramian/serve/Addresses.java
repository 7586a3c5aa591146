package org.gramian.serve;

import io.javalin.http.Context;
import java.util.Map;
import java.util.Set;

/** Which addresses are asked by which method: what is known but asked wrongly is told apart from what is not there. */
final class Addresses {
    static final String PREDICT = "/v1/predict";
    static final String EMBED = "/v1/embed";
    static final String MODEL = "/v1/model";
    static final String HEALTH = "/health";

    static final String METRICS = "/metrics";
    static final String OPENAPI = "/openapi.json";

    private static final String GET = "GET";
    private static final Map<String, String> METHODS =
            Map.of(PREDICT, "POST", EMBED, "POST", MODEL, GET, HEALTH, GET, METRICS, GET, OPENAPI, GET, "/", GET);
    private static final Set<String> READING = Set.of(GET, "HEAD");

    private Addresses() {}

    static void check(Context context) throws HttpError {
        String requested = context.req().getMethod();
        String method = METHODS.getOrDefault(context.path(), GET);
        if (!requested.equals(method) && !(method.equals(GET) && READING.contains(requested))) {
            if (METHODS.containsKey(context.path())) {
                context.header("Allow", method.equals(GET) ? "GET, HEAD" : method);
                throw new HttpError(405, "wrong-method", "expected the method " + method + "");
            }
            throw missing();
        }
    }

    /** The address as it is counted: there are few of them, whatever is asked for. */
    static String route(String path) {
        return METHODS.containsKey(path) ? path : "other";
    }

    static HttpError missing() {
        return new HttpError(404, "not-found", "not found; /openapi.json lists all paths");
    }
}
