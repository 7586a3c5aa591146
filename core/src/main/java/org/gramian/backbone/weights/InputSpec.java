package org.gramian.backbone.weights;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.crop.Preprocessing.Order;

/**
 * Parser of the preprocessing in the metadata of a weight file, under the key {@value #KEY}:
 *
 * <pre>
 * RGB mean=123.675,116.28,103.53 std=58.395,57.12,57.375     written by Gramian
 * BGR 0..255 minus (104,117,123)                             written by hand
 * RGB, (x-127)/128
 * </pre>
 */
final class InputSpec {
    static final String KEY = "input";

    private static final String NUMBER = "(\\d{1,3}(?:\\.\\d{1,9})?)";
    private static final Pattern MINUS =
            Pattern.compile("(RGB|BGR),? 0\\.\\.255 minus \\(([\\d.]+,[\\d.]+,[\\d.]+)\\)");
    private static final Pattern QUOTIENT = Pattern.compile("(RGB|BGR),? \\(x ?- ?" + NUMBER + "\\) ?/ ?" + NUMBER);

    private InputSpec() {}

    /** Parses a description; empty if it has none of these forms. */
    static Optional<Preprocessing> parse(String text) {
        try {
            Matcher minus = MINUS.matcher(text);
            if (minus.matches()) {
                List<Double> means = Arrays.stream(minus.group(2).split(",", -1))
                        .map(Double::valueOf)
                        .toList();
                return Optional.of(new Preprocessing(Order.valueOf(minus.group(1)), means, three(1.0)));
            }
            Matcher quotient = QUOTIENT.matcher(text);
            if (quotient.matches()) {
                return Optional.of(new Preprocessing(
                        Order.valueOf(quotient.group(1)),
                        three(Double.parseDouble(quotient.group(2))),
                        three(Double.parseDouble(quotient.group(3)))));
            }
            return Optional.of(Preprocessing.parse(text));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static List<Double> three(double value) {
        return Collections.nCopies(3, value);
    }
}
