package org.gramian.pooling;

import java.util.OptionalInt;

/**
 * The word {@code pca}, which means a {@link Reduction.Pca} of features before the aggregation and a {@link DescriptorPca}
 * after it.
 *
 * @param axes how many; nothing for {@code most}
 */
record PcaWord(OptionalInt axes) {
    static final Words.Rule RULE = new Words.Rule(
            "pca",
            "pca:<axes>, or pca:most after the aggregation",
            "principal components of the features, or of the descriptor",
            PcaWord::of);

    private static PcaWord of(WordArguments arguments) {
        boolean most = arguments.text("axes", "").equals(DescriptorPca.MOST);
        return new PcaWord(most ? OptionalInt.empty() : OptionalInt.of(arguments.count("axes")));
    }

    /** The stage that it is at its place. */
    Stage at(boolean afterAggregation) {
        if (afterAggregation) {
            return new DescriptorPca(axes);
        }
        return new Reduction.Pca(axes.orElseThrow(() -> new PoolingSyntaxException(
                "pca: 'most' applies to descriptors, after the aggregation; before it expected a number of channels, as"
                        + " pca:128")));
    }
}
