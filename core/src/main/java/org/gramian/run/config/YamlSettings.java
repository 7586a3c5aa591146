package org.gramian.run.config;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.gramian.basis.QuotedText;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.dataformat.yaml.YAMLFactory;
import tools.jackson.dataformat.yaml.YAMLParser;

/**
 * Reads settings from YAML token by token: sections with keys below them, or keys with their section before a dot.
 * A list {@value #CHOSEN} names the keys whose values were chosen automatically.
 *
 * <p>Other lists, anchors, aliases and tags have no meaning here and are refused before they are followed, so nothing can grow.
 */
final class YamlSettings {
    static final String CHOSEN = "chosen";

    private static final Pattern PLACE = Pattern.compile("line (\\d+), column");

    private final Path file;
    private final YAMLParser parser;
    private final Map<String, Integer> lines = new HashMap<>();
    private final Set<String> chosen = new LinkedHashSet<>();
    private Settings settings = Settings.NONE;

    private YamlSettings(Path file, YAMLParser parser) {
        this.file = file;
        this.parser = parser;
    }

    static Settings read(String text, Path file) {
        try (YAMLParser parser = (YAMLParser) new YAMLFactory().createParser(ObjectReadContext.empty(), text)) {
            YamlSettings reading = new YamlSettings(file, parser);
            reading.document();
            return reading.settings;
        } catch (JacksonException e) {
            throw new ConfigException(place(file, e) + "expected YAML, found: " + reason(e), e);
        }
    }

    /** The reader's message has lines of what it was doing, what it found, and where; the second is for people. */
    private static String reason(JacksonException e) {
        String message = Objects.requireNonNullElse(e.getOriginalMessage(), "something else");
        return QuotedText.bare(message.lines()
                .filter(line -> !line.startsWith("while ") && !line.startsWith(" "))
                .findFirst()
                .orElse("something else"));
    }

    /** The last place that the message names; the exception's own is where the last token was. */
    private static String place(Path file, JacksonException e) {
        return PLACE.matcher(Objects.requireNonNullElse(e.getOriginalMessage(), ""))
                .results()
                .reduce((_, last) -> last)
                .map(found -> file + ", line " + found.group(1) + ": ")
                .orElse(file + ": ");
    }

    private void document() {
        JsonToken first = parser.nextToken();
        if (first == null || first == JsonToken.VALUE_NULL) {
            return; // an empty file, or one of comments
        }
        if (first != JsonToken.START_OBJECT) {
            throw wrong("expected lines 'KEY: VALUE', found " + found());
        }
        section("");
        chosen.forEach(key -> settings = settings.unwanted(key));
        if (parser.nextToken() != null) {
            throw wrong("expected one document, found several");
        }
    }

    /** The keys of a section up to its end. */
    private void section(String prefix) {
        refuseMagic();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            refuseMagic();
            String name = prefix + parser.currentName();
            int line = parser.currentTokenLocation().getLineNr();
            JsonToken value = parser.nextToken();
            if (value == JsonToken.START_OBJECT && KeySuggestion.sections().contains(name)) {
                once(name + ".", line);
                section(name + ".");
            } else if (name.equals(CHOSEN)) {
                once(name, line);
                chosen(value, line);
            } else {
                once(name, line);
                add(name, value, line);
            }
        }
    }

    /** The names of the list, up to its end. */
    private void chosen(@Nullable JsonToken value, int line) {
        refuseMagic();
        if (value != JsonToken.START_ARRAY) {
            throw wrong(line, CHOSEN + ": expected a list of keys, e.g. [stage1.rate], found " + found());
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            refuseMagic();
            int own = parser.currentTokenLocation().getLineNr();
            JsonToken token = parser.currentToken();
            if (token == null || !token.isScalarValue() || token == JsonToken.VALUE_NULL) {
                throw wrong(own, CHOSEN + ": expected the name of a key, found " + found());
            }
            try {
                String name = Keys.of(parser.getString()).name();
                if (!chosen.add(name)) {
                    throw new ConfigException("expected every key once, found '" + name + "' twice");
                }
            } catch (ConfigException e) {
                throw wrong(own, CHOSEN + ": " + e.getMessage());
            }
        }
    }

    private void once(String name, int line) {
        Integer before = lines.putIfAbsent(name, line);
        if (before != null) {
            throw wrong(line, QuotedText.bare(name) + ": expected every key once, found it also on line " + before);
        }
    }

    private void add(String name, @Nullable JsonToken value, int line) {
        refuseMagic();
        try {
            if (KeySuggestion.sections().contains(name)) {
                throw new ConfigException(name + ": expected keys below it, found " + found());
            }
            Key<?> key = Keys.of(name);
            if (value == null || !value.isScalarValue() || value == JsonToken.VALUE_NULL) {
                throw new ConfigException(name + ": expected " + key.form().expected() + ", found " + found()
                        + "; remove the key to use the default");
            }
            settings = settings.with(name, parser.getString(), Origin.file(file, line));
        } catch (ConfigException e) {
            throw wrong(line, Objects.requireNonNull(e.getMessage()));
        }
    }

    private void refuseMagic() {
        if (parser.isCurrentAlias() || parser.getObjectId() != null || parser.getTypeId() != null) {
            throw wrong("expected plain values, found an anchor, an alias or a tag (what begins with &, * or !);"
                    + " write such text in quotes");
        }
    }

    private String found() {
        JsonToken token = parser.currentToken();
        if (token == null || token == JsonToken.VALUE_NULL) {
            return "nothing";
        }
        return switch (token) {
            case START_OBJECT -> "keys below it";
            case START_ARRAY -> "a list";
            default -> QuotedText.text(parser.getString());
        };
    }

    private ConfigException wrong(String message) {
        return wrong(parser.currentTokenLocation().getLineNr(), message);
    }

    private ConfigException wrong(int line, String message) {
        return new ConfigException(file + ", line " + line + ": " + message);
    }
}
