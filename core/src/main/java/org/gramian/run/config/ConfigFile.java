package org.gramian.run.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.gramian.basis.AtomicTextFile;
import org.gramian.basis.QuotedText;
import tools.jackson.databind.json.JsonMapper;

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
        return YamlSettings.read(text(file), file);
    }

    /** Writes settings, each line with its origin; equal settings give equal bytes. */
    public static void write(Path file, Settings settings) throws IOException {
        AtomicTextFile.write(file, text -> text.write(text(settings)));
    }

    private static String text(Path file) {
        if (!Files.exists(file)) {
            throw new ConfigException(file + ": expected a configuration in YAML, found no such file");
        }
        if (!Files.isRegularFile(file)) {
            throw new ConfigException(
                    file + ": expected a configuration in YAML, found something that is not a regular file");
        }
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(LARGEST + 1);
        } catch (AccessDeniedException e) {
            throw new ConfigException(file + ": permission denied", e);
        } catch (IOException e) {
            throw new ConfigException(file + ": cannot be read: " + e.getMessage(), e);
        }
        if (bytes.length > LARGEST) {
            throw new ConfigException(file + ": expected a configuration of at most " + LARGEST
                    + " bytes, found more; is this the right file?");
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new ConfigException(file + ": expected text in UTF-8, found other bytes", e);
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
        for (Setting setting : settings.values().values()) {
            int dot = setting.key().indexOf('.');
            String own = dot < 0 ? "" : setting.key().substring(0, dot);
            if (!own.equals(section) && !own.isEmpty()) {
                text.append(own).append(":\n");
            }
            section = own;
            String indent = own.isEmpty() ? "" : "  ";
            String entry = indent + setting.key().substring(dot + 1) + ": " + value(setting.text());
            text.append(String.format(
                    Locale.ROOT,
                    "%-" + ORIGINS_BEGIN + "s # %s\n",
                    entry,
                    QuotedText.visible(setting.origin().text())));
        }
        return text.append(chosen(settings)).toString();
    }

    private static String chosen(Settings settings) {
        List<String> keys = settings.values().values().stream()
                .filter(setting -> !setting.origin().wanted())
                .map(Setting::key)
                .toList();
        if (keys.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder(ABOUT_CHOSEN + YamlSettings.CHOSEN + ":\n  [");
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
}
