package org.gramian.run.config;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.gramian.basis.EnumWords;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;

/**
 * How the values of a key are written: the way from text to value and back, {@code read(write(v)) = v}.
 *
 * @param <T> type of the values
 * @param expected what is written, for help, as {@code NUMBER} or {@code f32|f16}
 * @param reading throws IllegalArgumentException for text that is none
 * @param writing the text that is read back
 */
public record Form<T>(String expected, Function<String, T> reading, Function<T, String> writing) {
    private static final String DECIMAL = "[+-]?(\\d{1,20}\\.?\\d{0,30}|\\.\\d{1,30})([eE][+-]?\\d{1,3})?";

    T read(String text) {
        return reading.apply(text.strip());
    }

    String write(T value) {
        return writing.apply(value);
    }

    /** Returns the canonical text of a value. */
    String normalize(String text) {
        return write(read(text));
    }

    /** Whole numbers of at least some value. */
    static Form<Integer> whole(int least) {
        String what = "a whole number of at least " + least;
        return new Form<>(
                "N",
                text -> {
                    if (!text.matches("\\d{1,9}") || Integer.parseInt(text) < least) {
                        throw wrong(what, text);
                    }
                    return Integer.valueOf(text);
                },
                String::valueOf);
    }

    /** Any whole number of 64 bits. */
    static Form<Long> anyWhole() {
        return new Form<>(
                "N",
                text -> {
                    try {
                        return Long.valueOf(text);
                    } catch (NumberFormatException e) {
                        throw wrong("a whole number", text);
                    }
                },
                String::valueOf);
    }

    /** Numbers of at least 0. */
    static Form<Double> number() {
        return number(Double.MAX_VALUE, "a number of at least 0");
    }

    /** Numbers of at least 0, or a word, which reads as empty. */
    static Form<OptionalDouble> numberOr(String word) {
        Form<Double> number = number();
        return new Form<>(
                number.expected + "|" + word,
                text -> {
                    if (text.equalsIgnoreCase(word)) {
                        return OptionalDouble.empty();
                    }
                    try {
                        return OptionalDouble.of(number.read(text));
                    } catch (IllegalArgumentException neither) {
                        throw new IllegalArgumentException(
                                "expected a number of at least 0, e.g. 0.01, or " + word + ", found "
                                        + (text.isEmpty() ? "nothing" : QuotedText.text(text))
                                        + NearestWord.suggestion(text, List.of(word)),
                                neither);
                    }
                },
                value -> value.isEmpty() ? word : number.write(value.getAsDouble()));
    }

    /** Numbers from 0 to just below a bound. */
    static Form<Double> below(double bound) {
        return number(Math.nextDown(bound), "a number from 0 to below " + decimal(bound));
    }

    /** Numbers above 0 and at most 1. */
    static Form<Double> share() {
        return number(Double.MIN_VALUE, 1, "a number above 0 and at most 1");
    }

    private static Form<Double> number(double most, String what) {
        return number(0, most, what);
    }

    private static Form<Double> number(double least, double most, String what) {
        return new Form<>(
                "NUMBER",
                text -> {
                    double value = text.matches(DECIMAL) ? Double.parseDouble(text) : Double.NaN;
                    if (!(value >= least && value <= most)) {
                        throw wrong(what, text);
                    }
                    return value + 0.0; // makes -0 a 0
                },
                Form::decimal);
    }

    /** The shortest decimal that is read back to the same number, as {@code 0.0005} or {@code 1e-5}. */
    private static String decimal(double value) {
        String shortest = Double.toString(value);
        return shortest.contains("E") && (value < 1e-4 || value >= 1e7)
                ? shortest.replaceFirst("(\\.0)?E", "e")
                : new BigDecimal(shortest).stripTrailingZeros().toPlainString();
    }

    /** {@code true} or {@code false}. */
    static Form<Boolean> truth() {
        return word(List.of(true, false), String::valueOf);
    }

    /** The constants of an enumeration, as {@code cholesky-qr}. */
    static <E extends Enum<E>> Form<E> constant(Class<E> type) {
        return word(Arrays.asList(type.getEnumConstants()), EnumWords::text);
    }

    /** One of few words. */
    static <T> Form<T> word(List<T> values, Function<T, String> writing) {
        List<String> words = values.stream().map(writing).toList();
        return new Form<>(
                String.join("|", words),
                text -> {
                    int index = words.indexOf(text.toLowerCase(Locale.ROOT));
                    if (index < 0) {
                        String choices = words.stream().collect(Collectors.joining(" or "));
                        throw new IllegalArgumentException("expected " + choices + ", found " + QuotedText.text(text)
                                + NearestWord.suggestion(text, words));
                    }
                    return values.get(index);
                },
                writing);
    }

    /** Any name, but none that is empty. */
    static Form<String> name(String expected) {
        return of(
                expected,
                text -> {
                    if (text.isEmpty()) {
                        throw new IllegalArgumentException("expected a name, found nothing");
                    }
                    return text;
                },
                text -> text);
    }

    /** A value with a text form of its own. */
    static <T> Form<T> of(String expected, Function<String, T> reading, Function<T, String> writing) {
        return new Form<>(expected, reading, writing);
    }

    private static IllegalArgumentException wrong(String expected, String found) {
        return new IllegalArgumentException(
                "expected " + expected + ", found " + (found.isEmpty() ? "nothing" : QuotedText.text(found)));
    }
}
