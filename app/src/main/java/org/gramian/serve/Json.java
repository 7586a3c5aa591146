package org.gramian.serve;

import io.javalin.http.Context;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Answers as JSON. */
final class Json {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();
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

    /** An error as every answer tells it. */
    static ObjectNode error(String code, String message) {
        ObjectNode document = object();
        document.putObject("error").put("code", code).put("message", message);
        return document;
    }
}
