package org.gramian.explain;

import java.util.List;

/**
 * Why a model gives a picture a score for a class: which regions speak for it, and which feature maps.
 *
 * @param className the class that is explained
 * @param score its score before the softmax, the mean over the crops; this is what is differentiated
 * @param probability its probability, as the model answers
 * @param isAnswer whether it is the class that the model answers with
 * @param heat where in the picture lies what raises the score
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
        PAIRS(
                "pairs of active feature maps, by gradient times what the image adds to their entry of the kernel matrix"),
        /** A statistic of each map: single maps. */
        CHANNELS("single feature maps, by gradient times feature: this pooling looks at each alone"),
        /** Neither. */
        NONE("nothing of feature maps: this pooling mixes them before anything could be said of one or of a pair");

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
}
