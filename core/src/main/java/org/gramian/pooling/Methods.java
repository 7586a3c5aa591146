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

/**
 * Registry of all named methods, the lines of {@code methods.csv}.
 *
 * @since 0.1
 */
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

    /**
     * Published pooling method with its classifier, selected by name.
     *
     * @param name name on the command line, such as {@code bcnn}
     * @param title name in tables
     * @param family group of related methods
     * @param pooling text of its pooling, see {@link Pooling#parse}
     * @param classifier classifier of the publication, such as {@code softmax} or {@code svm}
     * @param formula what it computes, in one line
     * @param reference publication
     */
    public record Method(
            String name,
            String title,
            Family family,
            String pooling,
            String classifier,
            String formula,
            String reference) {
        /** Softmax classifier, trained jointly with the layers before it. */
        public static final String SOFTMAX = "softmax";

        /** Group of related methods. */
        public enum Family {
            /** The method of the paper and its ablations. */
            KERNEL,
            /** Other matrices of second-order statistics. */
            SECOND_ORDER,
            /** Statistics of each channel by itself. */
            FIRST_ORDER,
            /** Positions compared with a vocabulary. */
            CODEBOOK,
            /** The network's own layers after the feature layer. */
            NETWORK;

            /** Returns the name, such as {@code second-order}. */
            public String text() {
                return EnumWords.text(this);
            }
        }
    }
}
