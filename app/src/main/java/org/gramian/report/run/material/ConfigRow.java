package org.gramian.report.run.material;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A value of a run's configuration, as its file {@code config.yaml} spells it.
 *
 * @param key with its section, as {@code stage1.rate}
 * @param value as the file has it
 * @param origin where it came from; empty where the file does not say so
 */
public record ConfigRow(String key, String value, String origin) {
    private static final Pattern SECTION = Pattern.compile("([\\w-]+):\\s*");
    private static final Pattern VALUE =
            Pattern.compile("( *)([\\w-]+): +(\"(?:[^\"\\\\]|\\\\.)*+\"|[^\\s#]\\S*)(?:\\s+#\\s?(.*))?");

    /** The list of what nobody asked for, which the origins tell already. */
    private static final String CHOSEN = "chosen:";

    /** Whether it is neither a default nor a choice of the program. */
    public boolean wanted() {
        return !origin.equals("default") && !origin.startsWith("chosen");
    }

    /** The rows of a file's lines; what is no value is left out. */
    public static List<ConfigRow> of(List<String> lines) {
        List<ConfigRow> rows = new ArrayList<>();
        String section = "";
        for (String line : lines) {
            if (line.strip().equals(CHOSEN)) {
                break;
            }
            Matcher value = VALUE.matcher(line);
            Matcher begins = SECTION.matcher(line);
            if (begins.matches()) {
                section = begins.group(1) + ".";
            } else if (value.matches()) {
                String prefix = value.group(1).isEmpty() ? "" : section;
                String origin = value.group(4) == null ? "" : value.group(4);
                rows.add(new ConfigRow(prefix + value.group(2), value.group(3), origin));
            }
        }
        return rows;
    }
}
