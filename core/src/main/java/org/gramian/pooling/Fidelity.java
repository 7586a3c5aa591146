package org.gramian.pooling;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.gramian.pooling.Normalization.Root;
import org.gramian.spd.Rbf;

/**
 * Fidelity to the source: the paper as printed, its authors' released code, or the paper with its errors corrected.
 *
 * <p>A fidelity sets the defaults of arguments in a pooling's text; given arguments are kept: {@code rbf:sigma=mean}
 * keeps its σ under {@code authors}. The result is an ordinary {@link Pooling} whose text states every deviation, such
 * as {@code triu:gradient=printed}.
 *
 * <p>It also determines the optimizer of W ({@code train.StiefelOptions.of}), whether scores are normalized ({@link
 * #normalizesScores}) and the recipe of a run. {@code docs/fidelity.md} lists every point with its three
 * values and is generated from these.
 *
 * @since 0.1
 */
public enum Fidelity {
    /** As printed, wrong derivatives included. */
    PAPER(
            "paper",
            false,
            Map.of(
                    "conv", Map.of("bias", "0"),
                    "rbf", Map.of("sigma", "mean", "jitter", "0", "gradient", "printed"),
                    "spd", Map.of("init", "orthonormal"),
                    "triu", Map.of("gradient", "printed"),
                    "root", Map.of("eps", "0", "gradient", "exact"))),
    /** As in the Caffe code that the authors released. */
    AUTHORS(
            "paper",
            true,
            Map.of(
                    "conv", Map.of("bias", StageRegistry.number(Reduction.Conv.INITIAL_BIAS)),
                    "rbf", Map.of("sigma", "50", "jitter", "0", "gradient", "exact"),
                    "spd", Map.of("init", "xavier"),
                    "triu", Map.of("gradient", "exact"),
                    "root", Map.of("eps", "0", "gradient", "authors"))),
    /** The paper with correct derivatives, safe for dead channels and zeros: the default. */
    CORRECTED(
            "default",
            false,
            Map.of(
                    "conv", Map.of("bias", StageRegistry.number(Reduction.Conv.INITIAL_BIAS)),
                    "rbf",
                            Map.of(
                                    "sigma",
                                    "mean",
                                    "jitter",
                                    StageRegistry.number(Rbf.DEFAULT_JITTER),
                                    "gradient",
                                    "exact"),
                    "spd", Map.of("init", "orthonormal"),
                    "triu", Map.of("gradient", "exact"),
                    "root", Map.of("eps", StageRegistry.number(Root.DEFAULT_EPSILON), "gradient", "exact")));

    private final String method;
    private final boolean normalizesScores;

    @SuppressWarnings("ImmutableEnumChecker") // made by Map.of
    private final Map<String, Map<String, String>> arguments;

    Fidelity(String method, boolean normalizesScores, Map<String, Map<String, String>> arguments) {
        this.method = method;
        this.normalizesScores = normalizesScores;
        this.arguments = arguments;
    }

    /** Returns the name of the default {@linkplain Methods method}, such as {@code paper}. */
    public String method() {
        return method;
    }

    /** Returns whether batch norm precedes the softmax. */
    public boolean normalizesScores() {
        return normalizesScores;
    }

    /** Returns the defaults of a word's arguments that differ between fidelities. */
    public Map<String, String> arguments(String word) {
        return arguments.getOrDefault(word, Map.of());
    }

    /** Returns a text that {@link Pooling#parse(String, Fidelity)} parses to an equal pooling under this fidelity. */
    public String textOf(Pooling pooling) {
        return textOf(pooling.text());
    }

    private String textOf(String pooling) {
        return PoolingParser.stages(pooling).stream()
                .map(stage -> PoolingParser.isJoin(stage)
                        ? ofJoin(stage)
                        : PoolingParser.isKernelSum(stage) ? ofKernelSum(stage) : withDefaults(stage))
                .collect(Collectors.joining("/"));
    }

    private String ofJoin(String join) {
        return PoolingParser.branches(join).stream().map(this::textOf).collect(Collectors.joining("+", "[", "]"));
    }

    private String ofKernelSum(String sum) {
        return PoolingParser.products(sum).stream()
                .map(factors -> factors.stream().map(this::withDefaults).collect(Collectors.joining("*")))
                .collect(Collectors.joining("+", "(", ")"));
    }

    /** Writes the arguments whose defaults differ under this fidelity. */
    private String withDefaults(String part) {
        int colon = part.indexOf(':');
        String word = colon < 0 ? part : part.substring(0, colon);
        StringBuilder text = new StringBuilder(part);
        new TreeMap<>(CORRECTED.arguments(word)).forEach((name, value) -> {
            boolean written = part.matches(".*[:,]" + name + "=.*");
            if (!written && !value.equals(arguments(word).get(name))) {
                text.append(text.indexOf(":") < 0 ? ':' : ',').append(name + "=" + value);
            }
        });
        return text.toString();
    }
}
