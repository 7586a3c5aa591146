package org.gramian.run.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.QuotedText;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLFactory;
import tools.jackson.dataformat.yaml.YAMLParser;

/**
 * YAML file with the configuration of a training run, for {@code --config} and in run folders.
 *
 * <p>Its list {@code chosen} names the keys whose values were chosen automatically. They are read like all others, so that the
 * file repeats its run; {@link Settings#wanted} leaves them out.
 */
public final class ConfigFile {
    /** Upper bound in bytes, far above the size of all keys. */
    static final int LARGEST = 1 << 20;

    /** Texts that YAML reads as plain strings: {@code :} neither at the end nor before a space. */
    private static final Pattern PLAIN =
            Pattern.compile("[A-Za-z0-9_./+-](?:[A-Za-z0-9_./+=,-]|:(?=[A-Za-z0-9_./+-]))*");

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int ORIGINS_BEGIN = 40;
    private static final int LONGEST_LINE = 100;

    private static final String ABOUT_CHOSEN = """
        # Keys whose values were chosen automatically. Together with other options they are chosen again;
        # remove a key from this list to keep its value.
        """;

    private ConfigFile() {}

    /**
     * Reads the settings of a file.
     *
     * @throws ConfigException if it cannot be read or is not a configuration; with the line if it is known
     */
    public static Settings read(Path file) {
        return Reader.read(text(file), file);
    }

    /** Writes settings, each line with its origin; equal settings give equal bytes. */
    public static void write(Path file, Settings settings) throws IOException {
        AtomicFile.putText(file, text -> text.write(text(settings)));
    }

    private static String text(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new ConfigException(file + ": expected a configuration in YAML, found "
                    + (Files.exists(file) ? "something that is not a regular file" : "no such file"));
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(LARGEST + 1);
            if (bytes.length > LARGEST) {
                throw new ConfigException(file + ": expected a configuration of at most " + LARGEST
                        + " bytes, found more; is this the right file?");
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new ConfigException(file + ": expected text in UTF-8, found other bytes", e);
        } catch (IOException e) {
            String reason = e instanceof AccessDeniedException ? "permission denied" : e.getMessage();
            throw new ConfigException(file + ": cannot be read: " + reason, e);
        }
    }

    /**
     * Returns settings as YAML: one value per line with its origin as a comment, and at the end the list of keys that were
     * chosen automatically. The text depends neither on the time nor on the machine.
     */
    static String text(Settings settings) {
        StringBuilder text = new StringBuilder(
                "# Configuration of a training run; reuse it with: gramian train DIR --config THIS-FILE\n");
        String section = "";
        for (Settings.Setting setting : settings.values().values()) {
            int dot = setting.key().indexOf('.');
            String own = dot < 0 ? "" : setting.key().substring(0, dot);
            if (!own.equals(section) && !own.isEmpty()) {
                text.append(own).append(":\n");
            }
            section = own;
            String indent = own.isEmpty() ? "" : "  ";
            String entry = indent + setting.key().substring(dot + 1) + ": " + value(setting.text());
            text.append(String.format(
                    Locale.ROOT, "%-" + ORIGINS_BEGIN + "s # %s\n", entry, QuotedText.visible(setting.origin())));
        }
        return text.append(chosen(settings)).toString();
    }

    private static String chosen(Settings settings) {
        List<String> keys = settings.values().values().stream()
                .filter(setting -> !setting.wanted())
                .map(Settings.Setting::key)
                .toList();
        if (keys.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder(ABOUT_CHOSEN + Reader.CHOSEN + ":\n  [");
        int column = 0;
        for (String key : keys) {
            if (column + key.length() > LONGEST_LINE) {
                text.append("\n   ");
                column = 0;
            }
            text.append(column == 0 ? "" : " ").append(key).append(key.equals(keys.getLast()) ? "]\n" : ",");
            column += key.length() + 2;
        }
        return text.toString();
    }

    /** Returns the value, in quotes if YAML would not read it as plain text. */
    private static String value(String text) {
        boolean plain = PLAIN.matcher(text).matches() && !text.equals("null") && !text.startsWith("-");
        return plain ? text : JSON.writeValueAsString(text);
    }

    /**
     * Reads settings from YAML token by token: sections with keys below them, or keys with their section before a dot.
     * A list {@value #CHOSEN} names the keys whose values were chosen automatically.
     *
     * <p>Other lists, anchors, aliases and tags are refused, so that aliases cannot expand.
     */
    static final class Reader {
        static final String CHOSEN = "chosen";

        private static final Pattern PLACE = Pattern.compile("line (\\d+), column");

        private final Path file;
        private final YAMLParser parser;
        private final Map<String, Integer> lines = new HashMap<>();
        private final Set<String> chosen = new LinkedHashSet<>();
        private Settings settings = Settings.NONE;

        private Reader(Path file, YAMLParser parser) {
            this.file = file;
            this.parser = parser;
        }

        static Settings read(String text, Path file) {
            try (YAMLParser parser = (YAMLParser) new YAMLFactory().createParser(ObjectReadContext.empty(), text)) {
                return new Reader(file, parser).document();
            } catch (JacksonException e) {
                String message = Objects.requireNonNullElse(e.getOriginalMessage(), "something else");
                // the last line number of the message: the location of the exception is that of the last token
                String place = PLACE.matcher(message)
                        .results()
                        .reduce((_, last) -> last)
                        .map(found -> ", line " + found.group(1))
                        .orElse("");
                String reason = message.lines()
                        .filter(line -> !line.startsWith("while ") && !line.startsWith(" "))
                        .findFirst()
                        .orElse("something else");
                throw new ConfigException(file + place + ": expected YAML, found: " + QuotedText.bare(reason), e);
            }
        }

        private Settings document() {
            JsonToken first = parser.nextToken();
            if (first == null || first == JsonToken.VALUE_NULL) {
                return Settings.NONE; // an empty file, or one of comments
            }
            if (first != JsonToken.START_OBJECT) {
                throw wrong("expected lines 'KEY: VALUE', found " + found());
            }
            section("");
            if (parser.nextToken() != null) {
                throw wrong("expected one document, found several");
            }
            chosen.forEach(key -> settings = settings.unwanted(key));
            return settings;
        }

        /** Reads the keys of a section. */
        private void section(String prefix) {
            refuseAliases();
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                refuseAliases();
                String name = prefix + parser.currentName();
                int line = parser.currentTokenLocation().getLineNr();
                JsonToken value = parser.nextToken();
                boolean isSection = value == JsonToken.START_OBJECT && ConfigKey.isSection(name);
                Integer before = lines.putIfAbsent(isSection ? name + "." : name, line);
                if (before != null) {
                    throw wrong(
                            line, QuotedText.bare(name) + ": expected every key once, found it also on line " + before);
                }
                if (isSection) {
                    section(name + ".");
                } else if (name.equals(CHOSEN)) {
                    chosen(value);
                } else {
                    add(name, value, line);
                }
            }
        }

        /** Reads the names of the list. */
        private void chosen(@Nullable JsonToken value) {
            refuseAliases();
            if (value != JsonToken.START_ARRAY) {
                throw wrong(CHOSEN + ": expected a list of keys, e.g. [stage1.rate], found " + found());
            }
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                refuseAliases();
                if (!isScalar(parser.currentToken())) {
                    throw wrong(CHOSEN + ": expected the name of a key, found " + found());
                }
                try {
                    String name = ConfigKey.of(parser.getString()).name();
                    if (!chosen.add(name)) {
                        throw new ConfigException("expected every key once, found '" + name + "' twice");
                    }
                } catch (ConfigException e) {
                    throw wrong(CHOSEN + ": " + e.getMessage());
                }
            }
        }

        private void add(String name, @Nullable JsonToken value, int line) {
            refuseAliases();
            try {
                if (ConfigKey.isSection(name)) {
                    throw new ConfigException(name + ": expected keys below it, found " + found());
                }
                ConfigKey<?> key = ConfigKey.of(name);
                if (!isScalar(value)) {
                    throw new ConfigException(name + ": expected " + key.values() + ", found " + found()
                            + "; remove the key to use the default");
                }
                settings = settings.with(name, parser.getString(), file.getFileName() + ", line " + line);
            } catch (ConfigException e) {
                throw wrong(line, Objects.requireNonNull(e.getMessage()));
            }
        }

        private static boolean isScalar(@Nullable JsonToken token) {
            return token != null && token.isScalarValue() && token != JsonToken.VALUE_NULL;
        }

        private void refuseAliases() {
            if (parser.isCurrentAlias() || parser.getObjectId() != null || parser.getTypeId() != null) {
                throw wrong("expected plain values, found an anchor, an alias or a tag (what begins with &, * or !);"
                        + " write such text in quotes");
            }
        }

        private String found() {
            JsonToken token = parser.currentToken();
            return switch (token) {
                case START_OBJECT -> "keys below it";
                case START_ARRAY -> "a list";
                case null -> "nothing";
                default -> isScalar(token) ? QuotedText.text(parser.getString()) : "nothing";
            };
        }

        private ConfigException wrong(String message) {
            return wrong(parser.currentTokenLocation().getLineNr(), message);
        }

        private ConfigException wrong(int line, String message) {
            return new ConfigException(file + ", line " + line + ": " + message);
        }
    }
}
