package org.gramian.report.run.data;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Option of a run, from its file {@code config.yaml}.
 *
 * @param key with its section, as {@code stage1.rate}
 * @param value as written in the file
 * @param origin comment of the line, such as {@code default}; empty without one
 */
public record ConfigRow(String key, String value, String origin) {
    private static final Pattern SECTION = Pattern.compile("([\\w-]+):\\s*");
    private static final Pattern VALUE =
            Pattern.compile("( *)([\\w-]+): +(\"(?:[^\"\\\\]|\\\\.)*+\"|[^\\s#]\\S*)(?:\\s+#\\s?(.*))?");

    /** Section that repeats the chosen options; the origins contain the same. */
    private static final String CHOSEN = "chosen:";

    /** Returns whether the user set the option. */
    public boolean isSet() {
        return !origin.equals("default") && !origin.startsWith("chosen");
    }

    /** Parses the lines of a file and ignores lines without a value. */
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
