package org.gramian.cli;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.run.table.TableRow;

/**
 * Finds rows of a table by what people type: the name of a row, or its title.
 *
 * @param rows of the table
 */
record RowNames(List<TableRow> rows) {
    RowNames {
        rows = List.copyOf(rows);
    }

    /**
     * The name of a row.
     *
     * @param option that was typed, for the message
     * @throws IllegalArgumentException if there is no such row
     */
    String one(String option, String typed) {
        return find(typed)
                .orElseThrow(() -> new IllegalArgumentException(option + ": expected one of the rows "
                        + String.join(", ", names()) + ", found " + QuotedText.text(typed)
                        + NearestWord.suggestion(typed, names())));
    }

    /** The names of rows joined by commas; a whole text may be one, as the text of a pooling with commas. */
    Set<String> some(String option, List<String> typed) {
        return typed.stream()
                .flatMap(text -> find(text).isPresent()
                        ? Stream.of(text)
                        : Arrays.stream(text.split(",", -1)).map(String::strip))
                .map(text -> one(option, text))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /**
     * A setting of one row alone, {@code ROW:KEY=VALUE}.
     *
     * @param row the name of the row
     * @param key what is set
     * @param value to what
     */
    record Own(String row, String key, String value) {}

    /** The longest name or title of a row that the text begins with: a pooling's own text has colons. */
    Own own(String option, String typed) {
        String row = rows.stream()
                .flatMap(one -> Stream.of(one.name(), one.title()))
                .filter(word -> typed.startsWith(word + ":"))
                .max((first, second) -> Integer.compare(first.length(), second.length()))
                .orElseThrow(
                        () -> new IllegalArgumentException(option + ": expected ROW:KEY=VALUE with one of the rows "
                                + String.join(", ", names()) + ", found " + QuotedText.text(typed)
                                + NearestWord.suggestion(typed.split(":", 2)[0], names())));
        String pair = typed.substring(row.length() + 1);
        int equals = pair.indexOf('=');
        if (equals < 1) {
            throw new IllegalArgumentException(
                    option + ": expected ROW:KEY=VALUE, e.g. isqrt:stage1.rate=0.01, found " + QuotedText.text(typed));
        }
        return new Own(find(row).orElseThrow(), pair.substring(0, equals).strip(), pair.substring(equals + 1));
    }

    private List<String> names() {
        return rows.stream().map(TableRow::name).toList();
    }

    private Optional<String> find(String typed) {
        return Stream.concat(
                        rows.stream().filter(row -> row.name().equals(typed)),
                        rows.stream().filter(row -> row.title().equalsIgnoreCase(typed)))
                .map(TableRow::name)
                .findFirst();
    }
}
