package org.gramian.explain;

import java.awt.image.BufferedImage;
import java.util.ArrayList;
import java.util.List;

/** Explanation of the score of a class for an image, by regions and by feature maps. */
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

    /** What the pooling allows to attribute. */
    public enum Parts {
        /** Second order: entries of the kernel matrix, each of a pair of maps. */
        PAIRS("pairs of feature maps, by gradient times the image's part of their kernel matrix entry"),
        /** A statistic of each map: single maps. */
        CHANNELS("single feature maps, by gradient times feature"),
        /** Neither. */
        NONE("no feature maps: this pooling mixes them, so no single map or pair can be attributed");

        private final String text;

        Parts(String text) {
            this.text = text;
        }

        public String text() {
            return text;
        }
    }

    /**
     * Contribution of a pair of feature maps, or of a single map, to a score.
     *
     * @param first index of a map that the pooling aggregates, after its 1×1 convolution
     * @param contribution to the score averaged over crops; positive raises it. For a pair {@code (G_ij + G_ji)(K_ij − h(0))} with the
     *     gradient G of the score and the image's contribution to the kernel matrix entry; for a single map gradient times feature
     * @param where contributions of pixels, which sum to the contribution (see {@code docs/explain.md}); for {@code rbf} large where the
     *     maps differ, for {@code bilinear} where both are active
     * @param patches of other images that excite the pair most, the strongest first; empty unless a {@link PatchSearch} found them
     */
    public record ChannelPair(int first, int second, double contribution, HeatMap where, List<Patch> patches) {
        public ChannelPair {
            patches = List.copyOf(patches);
        }

        ChannelPair(int first, int second, double contribution, HeatMap where) {
            this(first, second, contribution, where, List.of());
        }
    }

    /**
     * A part of another image that excites a pair, or a single map, see {@link PatchSearch}.
     *
     * @param name of the image
     * @param value of the pair's term at the centre
     */
    public record Patch(String name, double value, BufferedImage image) {}

    /** Returns the explanation with the patches of every pair. */
    Explanation withPatches(List<List<Patch>> patches) {
        List<ChannelPair> all = new ArrayList<>();
        for (ChannelPair pair : pairs) {
            all.add(new ChannelPair(pair.first, pair.second, pair.contribution, pair.where, patches.get(all.size())));
        }
        return new Explanation(className, score, probability, isAnswer, heat, parts, all);
    }
}
