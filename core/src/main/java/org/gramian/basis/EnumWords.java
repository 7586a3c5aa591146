package org.gramian.basis;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The constants of an enum as words that people type: {@code QR_UNSIGNED} is {@code qr-unsigned}. */
public final class EnumWords {
    private EnumWords() {}

    /** The word of a constant. */
    public static String text(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The words of all constants, in their order. */
    public static List<String> words(Class<? extends Enum<?>> type) {
        return Stream.of(type.getEnumConstants()).map(EnumWords::text).toList();
    }

    /**
     * The constant of a word, in upper or lower case.
     *
     * @param what what is chosen, for the message, as {@code "the retraction"}
     * @throws IllegalArgumentException if there is none; the message lists all and names the nearest
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
