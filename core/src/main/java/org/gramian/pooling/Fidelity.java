package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.gramian.basis.Choice;
import org.gramian.spd.Backward;
import org.gramian.spd.Rbf;

/**
 * How close to the source a model keeps: the paper as printed, its authors' released code, or the paper with its errors
 * mended.
 *
 * <p>A fidelity is the set of values that arguments of a pooling's words take when they are not written, so that any of
 * them can be written against it: {@code rbf:sigma=mean} keeps its σ under {@code authors}. What it gives is an ordinary
 * {@link Pooling} whose text says every deviation, as {@code triu:gradient=printed}.
 *
 * <table>
 * <caption>What differs, and where it takes effect</caption>
 * <tr><th>point</th><th>paper</th><th>authors</th><th>corrected</th><th>where</th></tr>
 * <tr><td>σ</td><td>mean distance</td><td>50</td><td>mean distance</td><td>{@code rbf:sigma=}, {@link Rbf}</td></tr>
 * <tr><td>jitter</td><td>0</td><td>0</td><td>1e-4</td><td>{@code rbf:jitter=}, {@link Rbf}</td></tr>
 * <tr><td>Stiefel gradient</td><td>canonical</td><td>Euclidean</td><td>canonical</td>
 *     <td>{@code train.StiefelOptions.of}</td></tr>
 * <tr><td>W step</td><td>common learning rate</td><td>constant 1e-5, no momentum</td><td>own multiplier</td>
 *     <td>{@code train.StiefelOptions.of}</td></tr>
 * <tr><td>retraction</td><td>QR as the library returns it</td><td>QR, signs not fixed</td><td>QR, diag(R) &gt; 0</td>
 *     <td>{@code train.StiefelOptions.of}</td></tr>
 * <tr><td>W at the start</td><td>random: Q of a Gaussian</td><td>Xavier, not orthonormal</td><td>Q of a Gaussian</td>
 *     <td>{@code spd:init=}, {@link Transform.Spd}</td></tr>
 * <tr><td>C'</td><td>any ≤ C</td><td>C only</td><td>any ≤ C</td>
 *     <td>{@code spd:init=xavier} refuses others, {@link Transform.Spd#outputs}</td></tr>
 * <tr><td>gradient of vectorization</td><td>√2 on both triangles</td><td>√2/2</td><td>√2/2</td>
 *     <td>{@code triu:gradient=}, {@link Vectorization}</td></tr>
 * <tr><td>gradient of the kernel</td><td>factor 4, symmetric upstream assumed</td><td>general</td><td>general</td>
 *     <td>{@code rbf:gradient=}, {@link Rbf}</td></tr>
 * <tr><td>root</td><td>ε = 0</td><td>ε = 0, backward 0.5·g/(|y|+0.03)</td><td>ε = 1e-5</td>
 *     <td>{@code root:eps=,gradient=}, {@link Normalization.Root}</td></tr>
 * <tr><td>after the classifier</td><td>softmax</td><td>batch norm, softmax</td><td>softmax</td>
 *     <td>{@link #normalizesScores}, {@code model.Head}</td></tr>
 * <tr><td>bias of the 1×1 convolution</td><td>not given: 0</td><td>0.2</td><td>0.2</td>
 *     <td>{@code conv:bias=}, {@link Reduction.Conv}</td></tr>
 * <tr><td>recipe</td><td>batch 32, rate 0.1 then 0.001, two stages</td>
 *     <td>batch 16, rate 1e-5, decay 5e-6, all layers at once</td><td>batch 32, rate of the pooling, two stages</td>
 *     <td>the configuration of a run</td></tr>
 * </table>
 */
public enum Fidelity {
    /** As printed, wrong derivatives included. */
    PAPER(
            "paper",
            false,
            Map.of(
                    "conv", Map.of("bias", "0"),
                    "rbf", Map.of("sigma", "mean", "jitter", "0", "gradient", Backward.PRINTED.text()),
                    "spd", Map.of("init", Transform.Start.ORTHONORMAL.text()),
                    "triu", Map.of("gradient", Backward.PRINTED.text()),
                    "root", Map.of("eps", "0", "gradient", Normalization.Slope.EXACT.text()))),
    /** As in the Caffe code that the authors released. */
    AUTHORS(
            "paper",
            true,
            Map.of(
                    "conv", Map.of("bias", Words.number(Reduction.Conv.INITIAL_BIAS)),
                    "rbf", Map.of("sigma", "50", "jitter", "0", "gradient", Backward.EXACT.text()),
                    "spd", Map.of("init", Transform.Start.XAVIER.text()),
                    "triu", Map.of("gradient", Backward.EXACT.text()),
                    "root", Map.of("eps", "0", "gradient", Normalization.Slope.AUTHORS.text()))),
    /** The paper with right derivatives, safe at dead channels and at zero: the default. */
    CORRECTED(
            "default",
            false,
            Map.of(
                    "conv", Map.of("bias", Words.number(Reduction.Conv.INITIAL_BIAS)),
                    "rbf",
                            Map.of(
                                    "sigma",
                                    "mean",
                                    "jitter",
                                    Words.number(Rbf.DEFAULT_JITTER),
                                    "gradient",
                                    Backward.EXACT.text()),
                    "spd", Map.of("init", Transform.Start.ORTHONORMAL.text()),
                    "triu", Map.of("gradient", Backward.EXACT.text()),
                    "root",
                            Map.of(
                                    "eps",
                                    Words.number(Normalization.Root.DEFAULT_EPSILON),
                                    "gradient",
                                    Normalization.Slope.EXACT.text())));

    private final String preset;
    private final boolean normalizesScores;

    @SuppressWarnings("ImmutableEnumChecker") // made by Map.of
    private final Map<String, Map<String, String>> arguments;

    Fidelity(String preset, boolean normalizesScores, Map<String, Map<String, String>> arguments) {
        this.preset = preset;
        this.normalizesScores = normalizesScores;
        this.arguments = arguments;
    }

    /** The word, as {@code paper}. */
    public String text() {
        return Choice.text(this);
    }

    /**
     * Reads {@link #text} back.
     *
     * @throws IllegalArgumentException if there is no such fidelity; the message names the nearest
     */
    public static Fidelity parse(String text) {
        return Choice.parse(Fidelity.class, "the fidelity", text);
    }

    /** The {@linkplain Presets preset} to take where none is asked for: the authors' code has C' = C only. */
    public String preset() {
        return preset;
    }

    /** Whether batch norm stands between the classifier and softmax. */
    public boolean normalizesScores() {
        return normalizesScores;
    }

    /** The values of a word's arguments that are not written; those that are the same everywhere are left out. */
    Map<String, String> arguments(String word) {
        return arguments.getOrDefault(word, Map.of());
    }

    /**
     * The pooling with every argument that its text leaves out at the value of this fidelity.
     *
     * <p>A pooling does not remember whether an argument at its usual value was written: to respect {@code
     * rbf:sigma=mean} under {@link #AUTHORS}, read the text by {@link Pooling#parse(String, Fidelity)}.
     *
     * @throws IllegalArgumentException if its aggregation is one of a user, which has no text to read
     */
    public Pooling applyTo(Pooling pooling) {
        if (this == CORRECTED) {
            return pooling;
        }
        if (pooling.aggregation() instanceof CustomAggregation) {
            throw new IllegalArgumentException("the fidelity '" + text() + "' cannot be applied to '" + pooling
                    + "': its aggregation is not one of the words; write the stages around it as they should be");
        }
        return Pooling.parse(pooling.text(), this);
    }

    /**
     * A text that {@link Pooling#parse(String, Fidelity)} reads back to an equal pooling under this fidelity, as a
     * configuration that names the fidelity needs it: what differs from this fidelity is written.
     */
    public String textOf(Pooling pooling) {
        List<String> parts = new ArrayList<>();
        for (String part : pooling.text().split("/", -1)) {
            parts.add(withUsualValues(part));
        }
        return String.join("/", parts);
    }

    private String withUsualValues(String part) {
        int colon = part.indexOf(':');
        String word = colon < 0 ? part : part.substring(0, colon);
        StringBuilder text = new StringBuilder(part);
        for (Map.Entry<String, String> usual : new TreeMap<>(CORRECTED.arguments(word)).entrySet()) {
            boolean written = part.matches(".*[:,]" + usual.getKey() + "=.*");
            if (!written && !usual.getValue().equals(arguments(word).get(usual.getKey()))) {
                text.append(text.indexOf(":") < 0 ? ':' : ',')
                        .append(usual.getKey())
                        .append('=')
                        .append(usual.getValue());
            }
        }
        return text.toString();
    }
}
