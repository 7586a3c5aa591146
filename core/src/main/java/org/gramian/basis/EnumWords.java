package org.gramian.basis;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Names of enum constants on the command line: {@code QR_UNSIGNED} is {@code qr-unsigned}. */
public final class EnumWords {
    private EnumWords() {}

    public static String text(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the names of all constants, in order. */
    public static List<String> words(Class<? extends Enum<?>> type) {
        return Stream.of(type.getEnumConstants()).map(EnumWords::text).toList();
    }

    /**
     * Parses a name, in upper or lower case.
     *
     * @throws IllegalArgumentException if the name is unknown; the message lists all names and suggests the nearest
     */
    public static <E extends Enum<E>> E parse(Class<E> type, String what, String text) {
        String word = text.strip().toLowerCase(Locale.ROOT);
        return Stream.of(type.getEnumConstants())
                .filter(constant -> text(constant).equals(word))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException(what + ": expected one of " + String.join(", ", words(type))
                                + ", found '" + text + "'" + NearestWord.suggestion(word, words(type))));
    }
}
