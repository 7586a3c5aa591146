package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.gramian.basis.NearestWord;
import org.gramian.spd.Kernel;
import org.jspecify.annotations.Nullable;

/** Reads the text form of a {@link Pooling}: words to stages, and stages into their places. */
final class PoolingParser {
    private static final int LONGEST = 1000;

    private final String text;
    private final Fidelity fidelity;
    private final List<Reduction> reductions = new ArrayList<>();
    private final List<Transform> transforms = new ArrayList<>();
    private final List<Normalization> normalizations = new ArrayList<>();
    private @Nullable Kernel kernel;
    private @Nullable Aggregation aggregation;

    private PoolingParser(String text, Fidelity fidelity) {
        this.text = text;
        this.fidelity = fidelity;
    }

    static Pooling parse(String given, Fidelity fidelity) {
        String text = given.strip().toLowerCase(Locale.ROOT);
        if (text.length() > LONGEST) {
            throw new PoolingSyntaxException(
                    "a pooling is at most " + LONGEST + " characters long, found " + text.length());
        }
        if (text.isEmpty()) {
            throw new PoolingSyntaxException(
                    "a pooling is wanted, as " + Presets.all().get("default") + " or one of the presets "
                            + String.join(", ", Presets.all().keySet()) + "; found nothing");
        }
        String preset = Presets.all().get(text);
        PoolingParser parser = new PoolingParser(preset == null ? text : preset, fidelity);
        for (String part : parser.text.split("/", -1)) {
            parser.add(part.strip());
        }
        return parser.finish();
    }

    private void add(String part) {
        int colon = part.indexOf(':');
        String name = colon < 0 ? part : part.substring(0, colon);
        Words.Rule rule = Words.rule(name).orElseThrow(() -> unknown(name));
        WordArguments arguments =
                new WordArguments(rule.word(), colon < 0 ? "" : part.substring(colon + 1), fidelity.arguments(name));
        Object made;
        try {
            made = rule.making().apply(arguments);
        } catch (PoolingSyntaxException said) {
            throw said;
        } catch (IllegalArgumentException said) {
            throw new PoolingSyntaxException(part + ": " + said.getMessage());
        }
        arguments.requireAllUsed();
        place(name, made);
    }

    private void place(String name, Object made) {
        switch (made) {
            case Reduction reduction when kernel == null && aggregation == null -> reductions.add(reduction);
            case Kernel k when kernel == null && aggregation == null -> kernel = k;
            case Average average when kernel == null && aggregation == null -> aggregation = average;
            case Transform transform when kernel != null && aggregation == null -> transforms.add(transform);
            case Vectorization vectorization
            when kernel != null && aggregation == null ->
                aggregation = new SecondOrder(kernel, transforms, vectorization);
            case Normalization normalization when aggregation != null -> normalizations.add(normalization);
            default -> throw misplaced(name, made);
        }
    }

    private PoolingSyntaxException misplaced(String name, Object made) {
        String found = aggregation != null ? "a vector" : kernel != null ? "a matrix" : "feature maps";
        String needed = switch (made) {
            case Reduction r -> "feature maps";
            case Kernel k -> "feature maps";
            case Average a -> "feature maps";
            case Normalization n -> "a vector (after triu, flat or average)";
            default -> "a matrix (after a kernel, as rbf)";
        };
        String hint = name.equals("relu") && kernel == null ? "; conv has its ReLU built in" : "";
        return new PoolingSyntaxException(
                "'" + name + "' in '" + text + "' needs " + needed + " before it, found " + found + hint);
    }

    private PoolingSyntaxException unknown(String name) {
        List<String> words =
                new ArrayList<>(Words.all().stream().map(Words.Word::name).toList());
        if (name.equals(text)) {
            words.addAll(Presets.all().keySet());
        }
        return new PoolingSyntaxException("there is no stage '" + name + "' in '" + text + "'"
                + NearestWord.suggestion(name, words) + "; the stages are "
                + Words.all().stream().map(Words.Word::name).toList() + ", the presets "
                + Presets.all().keySet());
    }

    private Pooling finish() {
        if (aggregation == null) {
            throw new PoolingSyntaxException(
                    kernel == null
                            ? "'" + text + "' has no kernel (rbf, covariance, bilinear, ...) and no average: nothing"
                                    + " aggregates the positions"
                            : "'" + text + "' ends with a matrix: add triu (or flat) to make it a vector");
        }
        return new Pooling(reductions, aggregation, normalizations);
    }
}
