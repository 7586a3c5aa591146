package org.gramian.explain;

import java.awt.image.BufferedImage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.basis.EnumWords;
import org.gramian.basis.JsonText;

/**
 * Explanation of the score of a class for an image, by regions and by feature maps.
 *
 * @since 0.1
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

    /** Patches of each pair, each of another image. */
    public static final int PATCHES = 4;

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

        /** Returns the description. */
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
     * @param patches of other images that excite the pair most, the strongest first; empty unless a {@code PatchSearch} found them
     */
    public record ChannelPair(int first, int second, double contribution, HeatMap where, List<Patch> patches) {
        public ChannelPair {
            patches = List.copyOf(patches);
        }
    }

    /**
     * A part of another image that excites a pair, or a single map, see {@code PatchSearch}.
     *
     * @param name of the image
     * @param value of the pair's term at the centre
     */
    public record Patch(String name, double value, BufferedImage image) {}

    /** Returns class, score, heat map and pairs of feature maps as a JSON object. */
    public String toJson() {
        return JsonText.of(asMap());
    }

    /** Returns the content of {@link #toJson}, by name. */
    public SequencedMap<String, Object> asMap() {
        SequencedMap<String, Object> json = JsonText.object("class", className, "answer", isAnswer);
        json.put("probability", probability);
        json.put("score", score);
        json.put("coverage", heat.coverage());
        json.put(
                "heat", JsonText.object("width", heat.width(), "height", heat.height(), "strengths", heat.strengths()));
        json.put("parts", EnumWords.text(parts));
        json.put(
                "pairs",
                pairs.stream()
                        .map(pair -> JsonText.object(
                                "first",
                                pair.first(),
                                "second",
                                pair.second(),
                                "contribution",
                                pair.contribution(),
                                "patches",
                                pair.patches().stream()
                                        .map(Explanation.Patch::name)
                                        .toList()))
                        .toList());
        return json;
    }

    /** Returns the explanation with the patches of every pair. */
    public Explanation withPatches(List<List<Patch>> patches) {
        List<ChannelPair> all = new ArrayList<>();
        for (ChannelPair pair : pairs) {
            all.add(new ChannelPair(pair.first, pair.second, pair.contribution, pair.where, patches.get(all.size())));
        }
        return new Explanation(className, score, probability, isAnswer, heat, parts, all);
    }

    /**
     * Heat map of a class: one value for every pixel of an image, or of a smaller one with its aspect ratio.
     *
     * <p>Positive values raise the score of the class, negative ones lower it; {@link #strength} is the displayed value.
     * Crops need not cover the image: uncovered pixels have value 0, see {@link #covers}.
     */
    public static final class HeatMap {
        /** Quantile that is displayed at full strength. */
        private static final double FULL = 0.98;

        private final int width;
        private final int height;
        private final float[] values;
        private final BitSet covered;
        private final float full;

        /** Creates a heat map of values row by row; {@code covered} has the pixels that a crop covers. */
        public HeatMap(int width, int height, float[] values, BitSet covered) {
            if (width < 1 || height < 1 || values.length != (long) width * height) {
                throw new IllegalArgumentException("expected a map of " + width + "×" + height
                        + " with at least one position and a value for each, found " + values.length + " values");
            }
            this.width = width;
            this.height = height;
            this.values = values;
            this.covered = covered;
            this.full = full(values, covered);
        }

        /** Returns the 98 % quantile of the magnitudes of covered pixels. */
        float magnitude() {
            float[] sizes = new float[values.length];
            for (int i = 0; i < sizes.length; i++) {
                sizes[i] = Math.abs(values[i]);
            }
            return full(sizes, covered);
        }

        /** Returns the value of full strength: a quantile, since a few outliers would hide the rest; the maximum if it is not positive. */
        private static float full(float[] values, BitSet covered) {
            float[] sorted = new float[covered.cardinality()];
            int[] places = covered.stream().toArray();
            for (int i = 0; i < sorted.length; i++) {
                sorted[i] = values[places[i]];
            }
            Arrays.sort(sorted);
            if (sorted.length == 0) {
                return 0;
            }
            float high = sorted[(int) (FULL * (sorted.length - 1))];
            return Math.max(0, high > 0 ? high : sorted[sorted.length - 1]);
        }

        /** Returns the width in pixels. */
        public int width() {
            return width;
        }

        /** Returns the height in pixels. */
        public int height() {
            return height;
        }

        /** Returns the contribution of a pixel to the mean score, summed over the crops that cover it. */
        public float value(int x, int y) {
            return values[y * width + x];
        }

        /**
         * Returns the value relative to the 98 % quantile of covered pixels, clamped to {@code [0, 1]}; 0 everywhere if no
         * value is positive.
         */
        public float strength(int x, int y) {
            return full > 0 ? Math.clamp(value(x, y) / full, 0f, 1f) : 0;
        }

        /** Returns the {@link #strength} of all pixels, row by row. */
        public float[] strengths() {
            float[] all = new float[values.length];
            for (int i = 0; i < all.length; i++) {
                all[i] = strength(i % width, i / width);
            }
            return all;
        }

        /** Returns whether a crop covers a pixel. */
        public boolean covers(int x, int y) {
            return covered.get(y * width + x);
        }

        /** Returns the fraction of the pixels that crops cover. */
        public double coverage() {
            return (double) covered.cardinality() / values.length;
        }

        /**
         * Returns the pixels with the highest values by index {@code y·width + x}; the first of equals.
         *
         * @param share fraction of the covered pixels, from 0 to 1
         */
        public BitSet top(double share) {
            BitSet top = new BitSet(values.length);
            covered.stream()
                    .boxed()
                    .sorted((a, b) -> Float.compare(values[b], values[a]))
                    .limit(Math.round(share * covered.cardinality()))
                    .forEach(top::set);
            return top;
        }

        /** Returns the pixels that crops cover, by index {@code y·width + x}. */
        public BitSet covered() {
            return (BitSet) covered.clone();
        }
    }
}
