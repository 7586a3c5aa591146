package org.gramian.report;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** JSON as people read it too: what commands and reports write for other programs. */
public final class IndentedJson {
    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private IndentedJson() {}

    public static String of(Object document) {
        return MAPPER.writeValueAsString(document);
    }
}
