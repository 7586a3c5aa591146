package org.gramian.explain;

import java.util.List;

/**
 * Why a model gives an image a score for a class: which regions speak for it, and which feature maps.
 *
 * @param className the class that is explained
 * @param score its score before the softmax, the mean over the crops; this is what is differentiated
 * @param probability its probability, as the model answers
 * @param isAnswer whether it is the class that the model answers with
 * @param heat where in the image lies what raises the score
 * @param parts what is said of feature maps
 * @param pairs those that contribute most, either way, first; none that contributes nothing, or has a map that is 0 everywhere
 */
public record Explanation(
        String className,
        double score,
        double probability,
        boolean isAnswer,
        HeatMap heat,
        Parts parts,
        List<ChannelPair> pairs) {
    public Explanation {
        pairs = List.copyOf(pairs);
    }

    /** What can be said of feature maps; it depends on the pooling. */
    public enum Parts {
        /** Second order: entries of the kernel matrix, each of a pair of maps. */
        PAIRS("pairs of active feature maps, by gradient times the image's contribution to their kernel matrix entry"),
        /** A statistic of each map: single maps. */
        CHANNELS("single feature maps, by gradient times feature: this pooling treats each map separately"),
        /** Neither. */
        NONE("no feature maps: this pooling mixes them, so no single map or pair can be attributed");

        private final String text;

        Parts(String text) {
            this.text = text;
        }

        /** In words. */
        public String text() {
            return text;
        }
    }

    /** Columns of the heat. */
    public int width() {
        return heat.width();
    }

    /** Rows of the heat. */
    public int height() {
        return heat.height();
    }

    /**
     * What a pair of feature maps, or one alone, has to do with a class's score.
     *
     * @param first number of a map that the pooling aggregates, after its 1×1 convolution, from 0
     * @param second number of the other one, not less than the first; the same for one alone
     * @param contribution to the mean score of the crops: positive raises it. Of a pair, {@code (G_ij + G_ji)(K_ij −
     *     h(0))} with the gradient G of the score and what the image adds to the entry of the kernel matrix; of one
     *     map, the sum of gradient times feature
     * @param where the contribution comes from: a share for every place, which together are the contribution (see
     *     {@code docs/explain.md}); for {@code rbf} it is large where the maps differ, for {@code bilinear} where both
     *     are active
     */
    public record ChannelPair(int first, int second, double contribution, HeatMap where) {}
}
