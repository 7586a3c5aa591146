package org.gramian.run.config;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.QuotedText;
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
        try {
            if (Files.size(file) > LARGEST) {
                throw new ConfigException(file + ": expected a configuration of at most " + LARGEST
                        + " bytes, found more; is this the right file?");
            }
            return Files.readString(file);
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
        private final Set<String> chosen = new LinkedHashSet<>();
        private Settings settings = Settings.NONE;
        private String section = "";
        private String key = "";

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
            JsonToken token = parser.nextToken();
            if (token == null || token == JsonToken.VALUE_NULL) {
                return Settings.NONE; // an empty file, or one of comments
            }
            if (token != JsonToken.START_OBJECT) {
                throw wrong("expected lines 'KEY: VALUE', found " + found());
            }
            while (token != null) {
                try {
                    if (parser.isCurrentAlias() || parser.getObjectId() != null || parser.getTypeId() != null) {
                        throw new ConfigException(
                                "expected plain values, found an anchor, an alias or a tag (what begins"
                                        + " with &, * or !); write such text in quotes");
                    }
                    if (!key.isEmpty() || token != JsonToken.START_OBJECT) {
                        accept(token);
                    }
                } catch (ConfigException e) {
                    throw wrong(Objects.requireNonNull(e.getMessage()));
                }
                token = parser.nextToken();
            }
            chosen.forEach(name -> settings = settings.unwanted(name));
            return settings;
        }

        private void accept(JsonToken token) {
            switch (token) {
                case PROPERTY_NAME -> key = section + parser.currentName();
                case START_OBJECT -> {
                    if (key.equals(CHOSEN) || !ConfigKey.isSection(key)) {
                        refuse();
                    }
                    section = key + ".";
                }
                case END_OBJECT -> {
                    if (section.isEmpty() && parser.nextToken() != null) {
                        throw new ConfigException("expected one document, found several");
                    }
                    section = "";
                }
                case START_ARRAY -> {
                    if (!key.equals(CHOSEN)
                            || parser.streamReadContext().getParent().inArray()
                            || !chosen.isEmpty()) {
                        refuse();
                    }
                }
                case END_ARRAY -> {}
                case VALUE_NULL -> refuse();
                default -> add();
            }
        }

        private void add() {
            if (key.equals(CHOSEN) && parser.streamReadContext().inArray()) {
                String name = ConfigKey.of(parser.getString()).name();
                if (!chosen.add(name)) {
                    throw new ConfigException(CHOSEN + ": expected every key once, found '" + name + "' twice");
                }
            } else if (key.equals(CHOSEN) || ConfigKey.isSection(key)) {
                refuse();
            } else if (settings.has(key)) {
                throw new ConfigException(key + ": expected every key once, found it also in "
                        + settings.setting(key).origin());
            } else {
                settings = settings.with(key, parser.getString(), file.getFileName() + ", line " + line());
            }
        }

        private void refuse() {
            String expected = key.equals(CHOSEN)
                    ? "a list of keys, each once, e.g. [stage1.rate]"
                    : ConfigKey.isSection(key)
                            ? "keys below it"
                            : ConfigKey.of(key).values() + ", or no such key for the default";
            throw new ConfigException(QuotedText.bare(key) + ": expected " + expected + ", found " + found());
        }

        private String found() {
            JsonToken token = parser.currentToken();
            return switch (token) {
                case START_OBJECT -> "keys below it";
                case START_ARRAY -> "a list";
                case null, default ->
                    token == null || token == JsonToken.VALUE_NULL ? "nothing" : QuotedText.text(parser.getString());
            };
        }

        private int line() {
            return parser.currentTokenLocation().getLineNr();
        }

        private ConfigException wrong(String message) {
            return new ConfigException(file + ", line " + line() + ": " + message);
        }
    }
}
