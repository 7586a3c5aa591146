package org.gramian.run.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.gramian.basis.EnumWords;
import org.gramian.basis.NamedArguments;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Pooling;
import org.gramian.train.loop.HeadSearch;
import org.gramian.train.recipe.Schedule;

/** Text form of the values of a key: {@code parse(print(v)) = v}. */
public record ValueCodec<T>(String notation, Function<String, T> parse, Function<T, String> print) {
    private static final String DECIMAL = "[+-]?(\\d{1,20}\\.?\\d{0,30}|\\.\\d{1,30})([eE][+-]?\\d{1,3})?";

    static final ValueCodec<Boolean> BOOLEANS = words(List.of(true, false), List.of("true", "false"));
    static final ValueCodec<Integer> COUNTS = counts(0);
    static final ValueCodec<Integer> POSITIVE_COUNTS = counts(1);
    static final ValueCodec<Long> SEEDS = new ValueCodec<>("N", ValueCodec::seed, String::valueOf);
    static final ValueCodec<Double> NUMBERS = numbers("a number of at least 0", value -> value >= 0);
    static final ValueCodec<Double> FRACTIONS = below(1);
    static final ValueCodec<String> NAMES = text("TEXT", _ -> {});
    static final ValueCodec<String> POOLINGS = new ValueCodec<>("SPEC", ValueCodec::pooling, text -> text);
    static final ValueCodec<Protocol> PROTOCOLS = new ValueCodec<>("PROTOCOL", Protocol::parse, Protocol::text);
    static final ValueCodec<CropPlan> CROP_PLANS = new ValueCodec<>("CROPS", CropPlan::parse, CropPlan::text);
    static final ValueCodec<Augmentation> AUGMENTATIONS =
            new ValueCodec<>("POLICY", Augmentation::parse, Augmentation::text);
    static final ValueCodec<Schedule> SCHEDULES = new ValueCodec<>("SCHEDULE", Schedule::parse, Schedule::text);
    static final ValueCodec<LinearSolver> SOLVERS =
            new ValueCodec<>("CLASSIFIER", LinearSolver::parse, LinearSolver::text);

    /** Texts that stay texts. */
    static ValueCodec<String> text(String notation, Consumer<String> check) {
        return new ValueCodec<>(
                notation,
                text -> {
                    if (text.isEmpty()) {
                        throw new IllegalArgumentException("expected a name, found nothing");
                    }
                    check.accept(text);
                    return text;
                },
                text -> text);
    }

    private static String pooling(String text) {
        if (text.equalsIgnoreCase(HeadSearch.AUTO)) {
            return HeadSearch.AUTO;
        }
        Pooling.parse(text, Fidelity.CORRECTED);
        return text;
    }

    private static ValueCodec<Integer> counts(int least) {
        return new ValueCodec<>(
                "N",
                text -> {
                    if (!text.matches("\\d{1,9}") || Integer.parseInt(text) < least) {
                        throw wrong("a whole number of at least " + least, text);
                    }
                    return Integer.valueOf(text);
                },
                String::valueOf);
    }

    private static Long seed(String text) {
        try {
            return Long.valueOf(text);
        } catch (NumberFormatException e) {
            throw wrong("a whole number", text);
        }
    }

    /** Numbers from 0 to below a bound. */
    static ValueCodec<Double> below(double bound) {
        return numbers(
                "a number from 0 to below " + NamedArguments.decimal(bound), value -> value >= 0 && value < bound);
    }

    private static ValueCodec<Double> numbers(String expected, Predicate<Double> valid) {
        return new ValueCodec<>(
                "NUMBER",
                text -> {
                    double value = text.matches(DECIMAL) ? Double.parseDouble(text) : Double.NaN;
                    if (!Double.isFinite(value) || !valid.test(value)) {
                        throw wrong(expected, text);
                    }
                    return value + 0.0; // makes -0 a 0
                },
                NamedArguments::decimal);
    }

    static <E extends Enum<E>> ValueCodec<E> words(Class<E> type) {
        return words(Arrays.asList(type.getEnumConstants()), EnumWords.words(type));
    }

    static <T> ValueCodec<T> words(List<T> values, List<String> words) {
        return new ValueCodec<>(
                String.join("|", words),
                text -> {
                    String word = text.toLowerCase(Locale.ROOT);
                    if (!words.contains(word)) {
                        throw new IllegalArgumentException("expected " + String.join(" or ", words) + ", found "
                                + QuotedText.text(text) + NearestWord.suggestion(text, words));
                    }
                    return Objects.requireNonNull(values.get(words.indexOf(word)));
                },
                value -> words.get(values.indexOf(value)));
    }

    ValueCodec<Optional<T>> or(String word) {
        return new ValueCodec<>(
                notation + "|" + word,
                text -> {
                    if (text.equalsIgnoreCase(word)) {
                        return Optional.empty();
                    }
                    try {
                        return Optional.of(parse.apply(text));
                    } catch (IllegalArgumentException neither) {
                        throw new IllegalArgumentException(
                                neither.getMessage() + ", or " + word + NearestWord.suggestion(text, List.of(word)),
                                neither);
                    }
                },
                value -> value.map(print).orElse(word));
    }

    ValueCodec<T> notation(String other) {
        return new ValueCodec<>(other, parse, print);
    }

    private static IllegalArgumentException wrong(String expected, String found) {
        return new IllegalArgumentException(
                "expected " + expected + ", found " + (found.isEmpty() ? "nothing" : QuotedText.text(found)));
    }
}
