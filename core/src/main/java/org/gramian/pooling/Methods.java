package org.gramian.pooling;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.gramian.basis.EnumWords;

/** Registry of all named methods, the lines of {@code methods.csv}. */
public final class Methods {
    private static final List<Method> ALL = read();

    private Methods() {}

    private static List<Method> read() {
        try (CsvReader<NamedCsvRecord> table = CsvReader.builder()
                .ofNamedCsvRecord(new InputStreamReader(
                        Objects.requireNonNull(Methods.class.getResourceAsStream("methods.csv")),
                        StandardCharsets.UTF_8))) {
            return table.stream().map(Methods::method).toList();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static Method method(NamedCsvRecord row) {
        return new Method(
                row.getField("name"),
                row.getField("title"),
                EnumWords.parse(Method.Family.class, "the family", row.getField("family")),
                row.getField("pooling"),
                row.getField("classifier"),
                row.getField("formula"),
                row.getField("reference"));
    }

    /** Returns all methods, grouped by family. */
    public static List<Method> all() {
        return ALL;
    }

    /** Finds a method by name, ignoring case. */
    public static Optional<Method> find(String name) {
        String word = name.strip().toLowerCase(Locale.ROOT);
        return ALL.stream().filter(method -> method.name().equals(word)).findFirst();
    }

    /** Returns the names of all methods. */
    public static List<String> names() {
        return ALL.stream().map(Method::name).toList();
    }
}
