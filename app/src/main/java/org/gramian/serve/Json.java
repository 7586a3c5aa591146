package org.gramian.serve;

import io.javalin.http.Context;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.time.Duration;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Answers as JSON. */
final class Json {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final ObjectWriter PIECES = MAPPER.writer()
            .without(StreamWriteFeature.AUTO_CLOSE_TARGET)
            .without(StreamWriteFeature.FLUSH_PASSED_TO_STREAM);
    static final String TYPE = "application/json";

    private Json() {}

    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    static byte[] bytes(JsonNode document) {
        return MAPPER.writeValueAsBytes(document);
    }

    static void answer(Context context, JsonNode document) {
        context.contentType(TYPE).result(bytes(document));
    }

    /**
     * Writes an answer here and now, piece by piece, so that a long one is never in memory as text. Whoever does not take it in
     * time, or has gone, loses the connection: half an answer must not end like a whole one.
     */
    static void send(Context context, JsonNode document, Duration longest) {
        Deadline end = Deadline.in(longest);
        OutputStream out = context.contentType(TYPE).outputStream();
        try {
            PIECES.writeValue(new Timed(out, end), document);
            out.close();
        } catch (JacksonIOException | IOException _) {
            ServletContextRequest.getServletContextRequest(context.req())
                    .getConnectionMetaData()
                    .getConnection()
                    .getEndPoint()
                    .close();
        }
    }

    /** Fails when time is over. */
    private static final class Timed extends FilterOutputStream {
        private final Deadline end;

        Timed(OutputStream out, Deadline end) {
            super(out);
            this.end = end;
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            if (end.isOver()) {
                throw new InterruptedIOException("the client did not read the response within " + end.time());
            }
            out.write(bytes, from, count);
        }
    }

    /** An error as every answer tells it. */
    static ObjectNode error(String code, String message) {
        ObjectNode document = object();
        document.putObject("error").put("code", code).put("message", message);
        return document;
    }
}
