package org.gramian.linear;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;

/**
 * Text form of a solver: {@code word} or {@code word:name=value}.
 *
 * @param text the whole text
 * @param word lower-case word before the colon
 * @param argument text behind the colon; empty without one
 */
record SolverText(String text, String word, String argument) {
    static SolverText of(String text) {
        String[] parts = text.strip().split(":", 2);
        return new SolverText(
                text.strip(), parts[0].strip().toLowerCase(Locale.ROOT), parts.length == 1 ? "" : parts[1].strip());
    }

    /** Returns the number of the only argument; empty if it is left out or the given word. */
    OptionalDouble numberOr(String name, String other) {
        if (argument.isEmpty() && !text.contains(":")) {
            return OptionalDouble.empty();
        }
        String[] pair = argument.split("=", 2);
        if (pair.length == 2 && !pair[0].strip().equals(name)) {
            throw new IllegalArgumentException("the classifier " + word + " has no argument "
                    + QuotedText.text(pair[0].strip()) + NearestWord.suggestion(pair[0].strip(), List.of(name))
                    + "; write it as " + form(name, other));
        }
        String value = pair[pair.length - 1].strip();
        if (value.equals(other)) {
            return OptionalDouble.empty();
        }
        if (!value.matches("\\d{0,20}\\.?\\d{1,30}([eE][+-]?\\d{1,2})?")) {
            throw new IllegalArgumentException(
                    "the argument " + name + " of " + word + " must be a number of at least 0 or " + other + ", found "
                            + QuotedText.text(value) + "; write it as " + form(name, other));
        }
        return OptionalDouble.of(Double.parseDouble(value));
    }

    private String form(String name, String other) {
        return word + "[:" + name + "=NUMBER|" + other + "]";
    }

    void requireNoArgument() {
        if (text.contains(":")) {
            throw new IllegalArgumentException(
                    "the classifier " + word + " takes no argument, found " + QuotedText.text(argument));
        }
    }

    /** Returns the text form of a word with an optional argument. */
    static String write(String word, String name, OptionalDouble value) {
        return value.isEmpty() ? word : word + ":" + name + "=" + decimal(value.getAsDouble());
    }

    /** Returns the shortest decimal that parses to the same number. */
    static String decimal(double value) {
        String shortest = Double.toString(value);
        return shortest.contains("E") && (value < 1e-4 || value >= 1e7)
                ? shortest
                : new BigDecimal(shortest).stripTrailingZeros().toPlainString();
    }
}
