package org.gramian.run.config;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.gramian.accelerate.Rule;
import org.gramian.basis.EnumWords;
import org.gramian.basis.NamedArguments;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Pooling;
import org.gramian.train.loop.HeadSearch;
import org.gramian.train.recipe.Schedule;

/**
 * Text form of the values of a key: {@code parse(print(v)) = v}.
 *
 * @param notation notation in the help, e.g. {@code NUMBER} or {@code f32|f16}
 * @param parse throws IllegalArgumentException for invalid text
 * @param print inverse of the parser
 */
record ValueCodec(String notation, Function<String, Object> parse, Function<Object, String> print) {
    private static final String DECIMAL = "[+-]?(\\d{1,20}\\.?\\d{0,30}|\\.\\d{1,30})([eE][+-]?\\d{1,3})?";

    /** Returns the codec of a component by its type and declaration. */
    static ValueCodec of(Type type, TrainConfig.Key key) {
        if (type instanceof ParameterizedType optional) {
            return optional(of(optional.getActualTypeArguments()[0], key), key);
        }
        Class<?> plain = (Class<?>) type;
        if (plain.isEnum() || plain == Boolean.class) {
            return words(plain, key.values());
        }
        ValueCodec codec = switch (plain.getSimpleName()) {
            case "Integer" -> whole((int) key.min());
            case "Long" -> ofText("N", ValueCodec::seed);
            case "Double" -> number(key);
            case "Protocol" -> of("PROTOCOL", Protocols::parse, Protocol.class, Protocol::text);
            case "CropPlan" -> of("CROPS", CropPlan::parse, CropPlan.class, CropPlan::text);
            case "Augmentation" -> of("POLICY", Augmentation::parse, Augmentation.class, Augmentation::text);
            case "Schedule" -> of("SCHEDULE", Schedule::parse, Schedule.class, Schedule::text);
            case "LinearSolver" -> of("CLASSIFIER", LinearSolver::parse, LinearSolver.class, LinearSolver::text);
            case "String" -> ofText("TEXT", text -> checked(key.name(), text));
            default -> throw new IllegalStateException(key.name() + ": no codec for " + plain);
        };
        return key.values().isEmpty() ? codec : new ValueCodec(key.values(), codec.parse, codec.print);
    }

    private static <T> ValueCodec of(
            String notation, Function<String, T> parse, Class<T> type, Function<T, String> print) {
        return new ValueCodec(notation, parse::apply, value -> print.apply(type.cast(value)));
    }

    private static ValueCodec ofText(String notation, Function<String, Object> parse) {
        return new ValueCodec(notation, parse, String::valueOf);
    }

    /** Checks texts that stay texts. */
    private static String checked(String key, String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("expected a name, found nothing");
        }
        switch (key) {
            case "data.layout" -> Layouts.parse(text);
            case "network.backbone" -> NetworkConfig.backbone(text);
            case "network.pooling" -> {
                if (text.equalsIgnoreCase(HeadSearch.AUTO)) {
                    return HeadSearch.AUTO;
                }
                Pooling.parse(text, Fidelity.CORRECTED);
            }
            case "accelerate" -> Rule.parse(text);
            default -> {}
        }
        return text;
    }

    private static ValueCodec whole(int least) {
        return ofText("N", text -> {
            if (!text.matches("\\d{1,9}") || Integer.parseInt(text) < least) {
                throw wrong("a whole number of at least " + least, text);
            }
            return Integer.valueOf(text);
        });
    }

    private static Object seed(String text) {
        try {
            return Long.valueOf(text);
        } catch (NumberFormatException e) {
            throw wrong("a whole number", text);
        }
    }

    private static ValueCodec number(TrainConfig.Key key) {
        String expected = key.below() < Double.MAX_VALUE
                ? "a number from 0 to below " + NamedArguments.decimal(key.below())
                : key.max() < Double.MAX_VALUE
                        ? "a number above 0 and at most " + NamedArguments.decimal(key.max())
                        : "a number of at least 0";
        return new ValueCodec(
                "NUMBER",
                text -> {
                    double value = text.matches(DECIMAL) ? Double.parseDouble(text) : Double.NaN;
                    if (!(value >= key.min() && value <= key.max() && value <= Math.nextDown(key.below()))) {
                        throw wrong(expected, text);
                    }
                    return value + 0.0; // makes -0 a 0
                },
                value -> NamedArguments.decimal(((Number) value).doubleValue()));
    }

    /** Codec of an enumeration or of truth values, the first of whose words is true. */
    private static ValueCodec words(Class<?> type, String notation) {
        List<?> values = type == Boolean.class ? List.of(true, false) : Arrays.asList(type.getEnumConstants());
        List<String> all = type == Boolean.class
                ? List.of((notation.isEmpty() ? "true|false" : notation).split("\\|"))
                : values.stream().map(value -> EnumWords.text((Enum<?>) value)).toList();
        List<String> words = notation.isEmpty() ? all : List.of(notation.split("\\|"));
        return new ValueCodec(
                String.join("|", words),
                text -> {
                    String word = text.toLowerCase(Locale.ROOT);
                    if (!words.contains(word)) {
                        throw new IllegalArgumentException("expected " + String.join(" or ", words) + ", found "
                                + QuotedText.text(text) + NearestWord.suggestion(text, words));
                    }
                    return Objects.requireNonNull(values.get(all.indexOf(word)));
                },
                value -> all.get(values.indexOf(value)));
    }

    /** Codec of an optional value; a word stands for empty. */
    private static ValueCodec optional(ValueCodec codec, TrainConfig.Key key) {
        String word = key.empty();
        return new ValueCodec(
                key.values().isEmpty() ? codec.notation + "|" + word : key.values(),
                text -> {
                    if (text.equalsIgnoreCase(word)) {
                        return Optional.empty();
                    }
                    try {
                        return Optional.of(codec.parse.apply(text));
                    } catch (IllegalArgumentException neither) {
                        throw new IllegalArgumentException(
                                neither.getMessage() + ", or " + word + NearestWord.suggestion(text, List.of(word)),
                                neither);
                    }
                },
                value -> ((Optional<?>) value).map(codec.print).orElse(word));
    }

    private static IllegalArgumentException wrong(String expected, String found) {
        return new IllegalArgumentException(
                "expected " + expected + ", found " + (found.isEmpty() ? "nothing" : QuotedText.text(found)));
    }
}
