package org.gramian.run.config;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.gramian.basis.QuotedText;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes settings as YAML: one value per line with its origin as a comment, and at the end the list of keys that were chosen
 * automatically. The text depends neither on the time nor on the machine.
 */
final class YamlText {
    /** Words that mean themselves in YAML wherever a value may stand; {@code :} within is none at the end or before a space. */
    private static final Pattern PLAIN =
            Pattern.compile("[A-Za-z0-9_./+-](?:[A-Za-z0-9_./+=,-]|:(?=[A-Za-z0-9_./+-]))*");

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int ORIGINS_BEGIN = 40;
    private static final int LONGEST_LINE = 100;

    private static final String ABOUT_CHOSEN = """
            # Keys whose values were chosen automatically. Together with other options they are chosen again;
            # remove a key from this list to keep its value.
            """;

    private YamlText() {}

    static String of(Settings settings) {
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

    /** The value, in quotes where YAML would see more in it than text. */
    private static String value(String text) {
        boolean plain = PLAIN.matcher(text).matches() && !text.equals("null") && !text.startsWith("-");
        return plain ? text : JSON.writeValueAsString(text);
    }
}
