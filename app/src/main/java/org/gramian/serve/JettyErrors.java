package org.gramian.serve;

import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/** Answers what Jetty itself refuses, as headers that are too long or addresses with tricks, without a word of its insides. */
final class JettyErrors extends ErrorHandler {
    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        int status = response.getStatus();
        HttpError refusal = Problems.refusal(status);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, Json.TYPE);
        response.getHeaders().put("X-Content-Type-Options", "nosniff");
        response.write(true, ByteBuffer.wrap(Json.bytes(Json.error(refusal.code(), refusal.message()))), callback);
        return true;
    }
}
