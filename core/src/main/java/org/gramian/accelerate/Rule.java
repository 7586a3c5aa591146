package org.gramian.accelerate;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Rule that replaces a pattern of stages or layers by a fused layer. Values and gradients are those of the plain layers up to
 * rounding.
 *
 * <p>All rules are enabled by default. {@link #use} and the environment variable {@value #SWITCH} select others: {@code off} for
 * none, or names of rules to leave out, such as {@code -stem,-attention}.
 */
public enum Rule {
    /**
     * {@code rbf/spd[/relu]/triu/root/l2} image by image, one triangle of its symmetric products, on a CPU in float32 or float64 for
     * at least 256 maps in training, 384 in inference: {@link CpuDescriptor}.
     */
    CPU_DESCRIPTOR,

    /** {@code [conv/]rbf/spd/relu/triu/root/l2} with products in float16, where TF32 is allowed: {@link GpuDescriptor}. */
    GPU_DESCRIPTOR,

    /** Convolution, fixed batch norm, residual, activation and max pooling in one node: {@link FusedConvolution}. */
    CONVOLUTION,

    /** First convolution of a network on bfloat16 tensor cores. */
    STEM,

    /** Depthwise convolution of an even number of channels in bfloat16 on a GPU. */
    DEPTHWISE,

    /** Blocks of a vision transformer in bfloat16 on a GPU: {@link FusedTokens}. */
    TOKENS,

    /** Self-attention by libtorch's flash kernels in bfloat16. */
    ATTENTION,

    /** Update of all parameters in one kernel, and the step on the Stiefel manifold beside the backward pass. */
    OPTIMIZER,

    /** Gradients of parameters beside those of features, on a second stream. */
    SIDE_STREAM;

    /** Environment variable that selects rules. */
    public static final String SWITCH = "GRAMIAN_ACCELERATE";

    private static volatile String selection = System.getenv().getOrDefault(SWITCH, "on");

    /** Parsed at first use: a class whose initializer throws cannot be used again. */
    private static volatile @Nullable Set<Rule> enabled;

    /**
     * Selects the rules for models that are put on a device from now on.
     *
     * @param selection {@code on}, {@code off}, or names of rules to leave out, each after a minus
     * @throws IllegalArgumentException if the text is none of these
     */
    public static void use(String selection) {
        enabled = parse(selection);
        Rule.selection = selection;
    }

    /** Returns the current selection. */
    public static String selection() {
        return selection;
    }

    /**
     * Returns the rules of a selection.
     *
     * @throws IllegalArgumentException if the text is none
     */
    public static Set<Rule> parse(String selection) {
        return parse("accelerate", selection);
    }

    private static Set<Rule> parse(String source, String selection) {
        String text = selection.toLowerCase(Locale.ROOT);
        if (text.equals("on") || text.equals("off")) {
            return text.equals("on") ? EnumSet.allOf(Rule.class) : EnumSet.noneOf(Rule.class);
        }
        Set<Rule> rules = EnumSet.allOf(Rule.class);
        for (String name : text.split(",", -1)) {
            rules.remove(Arrays.stream(values())
                    .filter(rule -> name.equals("-" + rule))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(source
                            + ": expected on, off or names after a minus such as"
                            + " -stem, found '" + name + "'; rules: "
                            + Arrays.stream(values()).map(Rule::toString).collect(Collectors.joining(", ")))));
        }
        return rules;
    }

    /**
     * Returns whether the rule is used.
     *
     * @throws IllegalArgumentException if the environment variable selects rules that do not exist
     */
    public boolean isEnabled() {
        Set<Rule> rules = enabled;
        if (rules == null) {
            rules = parse(SWITCH, selection); // it was not set by use
            enabled = rules;
        }
        return rules.contains(this);
    }

    /** Returns the name, such as {@code side-stream}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
