package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Holds answers to an OpenAPI document: method, status, type, headers and schema of each. Of JSON Schema it knows what the document
 * uses, and fails at any other word.
 */
record OpenApiCheck(JsonNode document) {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final Set<String> KNOWN = Set.of(
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "oneOf",
            "const",
            "enum",
            "pattern",
            "minimum",
            "maximum",
            "description",
            "$ref");

    /** All methods and addresses. */
    Set<String> addresses() {
        Set<String> all = new TreeSet<>();
        document.get("paths")
                .properties()
                .forEach(path ->
                        path.getValue().propertyNames().forEach(method -> all.add(method + " " + path.getKey())));
        return all;
    }

    /** The status of an answer that is as described. */
    int answer(String method, String path, HttpResponse<String> response) {
        String status = Integer.toString(response.statusCode());
        JsonNode described =
                document.at("/paths").get(path).get(method).get("responses").get(status);
        assertThat(described)
                .as("%s %s answers %s: %s", method, path, status, response.body())
                .isNotNull();
        String type = response.headers().firstValue("Content-Type").orElse("").split(";", 2)[0];
        JsonNode content = described.get("content").get(type);
        assertThat(content)
                .as("%s %s answers %s as %s", method, path, status, type)
                .isNotNull();
        if (described.has("headers")) {
            assertThat(response.headers().map().keySet().stream().map(name -> name.toLowerCase(Locale.ROOT)))
                    .containsAll(described.get("headers").propertyNames().stream()
                            .map(name -> name.toLowerCase(Locale.ROOT))
                            .toList());
        }
        if (type.equals("application/json")) {
            List<String> problems = new ArrayList<>();
            check(content.get("schema"), MAPPER.readTree(response.body()), "", problems);
            assertThat(problems).as("%s %s %s", method, path, status).isEmpty();
        }
        return response.statusCode();
    }

    private void check(JsonNode schema, JsonNode value, String where, List<String> problems) {
        assertThat(KNOWN).containsAll(schema.propertyNames());
        if (schema.has("$ref")) {
            check(document.at(schema.get("$ref").asString().substring(1)), value, where, problems);
            return;
        }
        if (schema.has("type") && !isOf(schema.get("type").asString(), value)) {
            problems.add(where + ": expected " + schema.get("type") + ", found " + value);
            return;
        }
        checkValue(schema, value, where, problems);
        if (value.isObject()) {
            checkObject(schema, value, where, problems);
        }
        if (schema.has("items")) {
            value.forEach(item -> check(schema.get("items"), item, where + "[]", problems));
        }
    }

    private void checkValue(JsonNode schema, JsonNode value, String where, List<String> problems) {
        boolean wrong = (schema.has("const") && !schema.get("const").equals(value))
                || (schema.has("enum") && schema.get("enum").valueStream().noneMatch(value::equals))
                || (schema.has("minimum")
                        && value.asDouble() < schema.get("minimum").asDouble())
                || (schema.has("maximum")
                        && value.asDouble() > schema.get("maximum").asDouble())
                || (schema.has("pattern")
                        && !Pattern.compile(schema.get("pattern").asString())
                                .matcher(value.asString())
                                .find());
        if (wrong) {
            problems.add(where + ": expected " + schema + ", found " + value);
        }
        if (schema.has("oneOf")) {
            long fitting = schema.get("oneOf")
                    .valueStream()
                    .filter(one -> {
                        List<String> own = new ArrayList<>();
                        check(one, value, where, own);
                        return own.isEmpty();
                    })
                    .count();
            if (fitting != 1) {
                problems.add(where + ": " + fitting + " of " + schema + " fit " + value);
            }
        }
    }

    private void checkObject(JsonNode schema, JsonNode value, String where, List<String> problems) {
        for (JsonNode name : schema.path("required")) {
            if (!value.has(name.asString())) {
                problems.add(where + ": " + name + " is missing in " + value);
            }
        }
        value.properties().forEach(property -> {
            JsonNode own = schema.path("properties").get(property.getKey());
            JsonNode others = schema.path("additionalProperties");
            if (own != null) {
                check(own, property.getValue(), where + "." + property.getKey(), problems);
            } else if (others.isObject()) {
                check(others, property.getValue(), where + "." + property.getKey(), problems);
            } else if (others.isBoolean() && !others.asBoolean()) {
                problems.add(where + ": " + property.getKey() + " is not described");
            }
        });
    }

    private static boolean isOf(String type, JsonNode value) {
        return switch (type) {
            case "object" -> value.isObject();
            case "array" -> value.isArray();
            case "string" -> value.isString();
            case "number" -> value.isNumber();
            case "integer" -> value.isIntegralNumber();
            case "boolean" -> value.isBoolean();
            default -> throw new IllegalArgumentException("no type of JSON: " + type);
        };
    }
}
