package org.gramian.run.config;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.gramian.basis.EnumWords;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;

/**
 * Text form of the values of a key: {@code read(write(v)) = v}.
 *
 * @param <T> type of the values
 * @param expected notation in the help, e.g. {@code NUMBER} or {@code f32|f16}
 * @param reading parser; throws IllegalArgumentException for invalid text
 * @param writing inverse of the parser
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

    /** Returns the form of whole numbers of at least some value. */
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

    /** Returns the form of 64-bit integers. */
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

    /** Returns the form of numbers of at least 0. */
    static Form<Double> number() {
        return number(Double.MAX_VALUE, "a number of at least 0");
    }

    /** Returns the form of numbers of at least 0, or a word, which reads as empty. */
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

    /** Returns the form of numbers from 0 to below a bound. */
    static Form<Double> below(double bound) {
        return number(Math.nextDown(bound), "a number from 0 to below " + decimal(bound));
    }

    /** Returns the form of numbers above 0 and at most 1. */
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

    /** Returns the shortest decimal that reads as the same number, e.g. {@code 0.0005} or {@code 1e-5}. */
    private static String decimal(double value) {
        String shortest = Double.toString(value);
        return shortest.contains("E") && (value < 1e-4 || value >= 1e7)
                ? shortest.replaceFirst("(\\.0)?E", "e")
                : new BigDecimal(shortest).stripTrailingZeros().toPlainString();
    }

    /** Returns the form of {@code true} and {@code false}. */
    static Form<Boolean> truth() {
        return word(List.of(true, false), String::valueOf);
    }

    /** Returns the form of an enumeration's constants, e.g. {@code cholesky-qr}. */
    static <E extends Enum<E>> Form<E> constant(Class<E> type) {
        return word(Arrays.asList(type.getEnumConstants()), EnumWords::text);
    }

    /** Returns the form of a list of words. */
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

    /** Returns the form of names, which are not empty. */
    static Form<String> name(String expected) {
        return checked(expected, text -> {
            if (text.isEmpty()) {
                throw new IllegalArgumentException("expected a name, found nothing");
            }
        });
    }

    /** Returns the form of optional values; a word stands for empty. */
    static <T> Form<Optional<T>> orWord(
            String expected, String word, Function<String, T> reading, Function<T, String> writing) {
        return of(
                expected,
                text -> text.equals(word) ? Optional.empty() : Optional.of(reading.apply(text)),
                value -> value.map(writing).orElse(word));
    }

    /** Returns the form of text that a parser accepts. */
    static Form<String> checked(String expected, Consumer<String> parser) {
        return of(
                expected,
                text -> {
                    parser.accept(text);
                    return text;
                },
                text -> text);
    }

    /** Returns the form of values with their own parser. */
    static <T> Form<T> of(String expected, Function<String, T> reading, Function<T, String> writing) {
        return new Form<>(expected, reading, writing);
    }

    private static IllegalArgumentException wrong(String expected, String found) {
        return new IllegalArgumentException(
                "expected " + expected + ", found " + (found.isEmpty() ? "nothing" : QuotedText.text(found)));
    }
}
