package org.gramian.run.config;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.gramian.basis.EnumWords;
import org.gramian.basis.NamedArguments;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Transform;
import org.gramian.spd.Rbf.Backward;
import org.gramian.train.StiefelOptions;

/**
 * A difference between the three fidelities: its value under each, and the key that sets it.
 *
 * <p>Texts are generated from the values that the program uses.
 *
 * @param name e.g. {@code jitter}, or the name of a key
 * @param setting argument or key that sets it, e.g. {@code rbf:jitter=}
 * @param paper as printed
 * @param authors as in the authors' code
 * @param corrected value of the default fidelity
 */
record FidelityPoint(String name, String setting, String paper, String authors, String corrected) {
    private static final String DERIVATIVE = "the derivative";

    private static FidelityPoint of(String name, String setting, Function<Fidelity, String> value) {
        return new FidelityPoint(
                name,
                setting,
                value.apply(Fidelity.PAPER),
                value.apply(Fidelity.AUTHORS),
                value.apply(Fidelity.CORRECTED));
    }

    /** Returns the differences in formulas, initialization and steps. */
    static List<FidelityPoint> mathematics() {
        List<FidelityPoint> all = new ArrayList<>(pooling());
        all.add(of(
                "Stiefel gradient",
                "stiefel.metric",
                f -> EnumWords.text(StiefelOptions.of(f).metric())));
        all.add(of("learning rate of W", "stiefel.multiplier, stiefel.constant-rate", FidelityPoint::step));
        all.add(of(
                "retraction",
                "stiefel.retraction",
                f -> EnumWords.text(StiefelOptions.of(f).retraction())));
        all.add(of(
                "output of the classifier",
                "network.logit-norm",
                f -> f.normalizesScores() ? "batch norm, softmax" : "softmax"));
        return List.copyOf(all);
    }

    private static List<FidelityPoint> pooling() {
        return List.of(
                of("initial bias of the 1×1 convolution", "conv:<channels>,bias=", f -> argument(f, "conv", "bias")),
                of(
                        "σ",
                        "rbf:sigma=",
                        f -> argument(f, "rbf", "sigma").replaceFirst("^mean$", "mean distance, without gradient")),
                of("jitter", "rbf:jitter=", f -> argument(f, "rbf", "jitter")),
                of("gradient of the kernel", "rbf:gradient=", f -> backward(f, "rbf", "4(rowsum(G)∘M − GM)")),
                of("initialization of W", "spd:<size>,init=", f -> switch (start(f)) {
                    case ORTHONORMAL -> "Q of a Gaussian";
                    case XAVIER -> "Xavier, not orthonormal";
                }),
                of("C'", "spd:<size>,init=", f -> switch (start(f)) {
                    case ORTHONORMAL -> "any ≤ C";
                    case XAVIER -> "C only";
                }),
                of("gradient of vectorization", "triu:gradient=", f -> backward(f, "triu", "√2 on both triangles")),
                of("root", "root:eps=,gradient=", FidelityPoint::root));
    }

    /** Returns the keys of the recipe that some fidelity sets; others have their default. */
    static List<FidelityPoint> recipe() {
        List<String> elsewhere = List.of(
                "stiefel.metric",
                "stiefel.multiplier",
                "stiefel.constant-rate",
                "stiefel.retraction",
                "network.logit-norm");
        return ConfigKey.all().stream()
                .filter(key -> Arrays.stream(Fidelity.values())
                        .anyMatch(f -> followed(f).has(key.name())))
                .filter(key -> !elsewhere.contains(key.name()))
                .map(key -> of(key.name(), key.name(), f -> value(f, key)))
                .toList();
    }

    private static String value(Fidelity fidelity, ConfigKey<?> key) {
        Settings.Setting set = followed(fidelity).values().get(key.name());
        return set == null ? key.defaultText() : set.text();
    }

    private static Settings followed(Fidelity fidelity) {
        return DefaultResolver.ofFidelity(fidelity, true);
    }

    private static String argument(Fidelity fidelity, String word, String name) {
        Map<String, String> arguments = fidelity.arguments(word);
        return Objects.requireNonNull(arguments.get(name), () -> fidelity + " has no value for " + word + ":" + name);
    }

    private static String backward(Fidelity fidelity, String word, String printed) {
        return EnumWords.parse(Backward.class, "gradient", argument(fidelity, word, "gradient")) == Backward.EXACT
                ? DERIVATIVE
                : printed;
    }

    private static Transform.Start start(Fidelity fidelity) {
        return EnumWords.parse(Transform.Start.class, "init", argument(fidelity, "spd", "init"));
    }

    private static String root(Fidelity fidelity) {
        String epsilon = "ε = " + argument(fidelity, "root", "eps");
        return switch (EnumWords.parse(Normalization.Slope.class, "gradient", argument(fidelity, "root", "gradient"))) {
            case EXACT -> epsilon;
            case AUTHORS -> epsilon + ", backward 0.5·g/(|y| + " + Normalization.Slope.AUTHORS_MARGIN + ")";
        };
    }

    private static String step(Fidelity fidelity) {
        StiefelOptions steps = StiefelOptions.of(fidelity);
        if (steps.constantRate().isPresent()) {
            return "constant " + NamedArguments.decimal(steps.constantRate().get()) + ", no momentum, no decay";
        }
        return steps.multiplier() == 1
                ? "same as other parameters"
                : NamedArguments.decimal(steps.multiplier()) + " times the learning rate, momentum transported";
    }
}
