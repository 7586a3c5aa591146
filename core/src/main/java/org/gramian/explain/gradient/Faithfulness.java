package org.gramian.explain.gradient;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.gramian.explain.Explanation.HeatMap;
import org.gramian.image.Image;
import org.gramian.model.Engine;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;

/**
 * Deletion test of a heat map: removes the hottest region, and random regions of the same size and shape, and compares
 * the scores.
 *
 * <p>Removed pixels get the image's mean colour. A random region is the hottest one shifted by a random, non-zero
 * number of covered pixels in row-major order, wrapping around, so that it has as many pixels and the model sees all of
 * them. The scores of several draws are averaged.
 *
 * @param share fraction of the covered pixels to remove, between 0 and 1
 */
public record Faithfulness(double share, int draws, long seed) {
    /** A fifth of the image against eight random regions. */
    public static final Faithfulness DEFAULT = new Faithfulness(0.2, 8, 1);

    public Faithfulness {
        if (!(share > 0 && share < 1) || draws < 1) {
            throw new IllegalArgumentException(
                    "expected a fraction between 0 and 1 and at least one draw, found " + share + " and " + draws);
        }
    }

    /** Scores of a class, averaged over crops. */
    public record Trial(double whole, double withoutHottest, double withoutOther) {
        /** Returns whether removing the hottest region lowers the score more than removing random ones. */
        public boolean holds() {
            return withoutHottest < withoutOther;
        }
    }

    /** Runs the test for the heat map of a class for one image. */
    public Trial of(Model model, ModelCard card, Image image, HeatMap heat, int label) {
        CroppedImage view = CroppedImage.of(image, card);
        BitSet hottest = heat.top(share);
        SplittableRandom random = new SplittableRandom(seed);
        int[] seen = heat.covered().stream().toArray();
        double others = 0;
        for (int i = 0; i < draws; i++) {
            BitSet moved = shifted(hottest, seen, 1 + random.nextInt(Math.max(1, seen.length - 1)));
            others += score(model, view.masked(moved, heat.width(), heat.height()), label) / draws;
        }
        double withoutHottest = score(model, view.masked(hottest, heat.width(), heat.height()), label);
        return new Trial(score(model, view, label), withoutHottest, others);
    }

    private static double score(Model model, CroppedImage view, int label) {
        try (Arena arena = Arena.ofConfined()) {
            float[][] scores =
                    Engine.of(model).compute(view.write(arena, false), view.shape(false), Engine.Rows.SCORES);
            return Arrays.stream(scores)
                    .mapToDouble(row -> row[label])
                    .average()
                    .orElseThrow();
        }
    }

    /** Shifts pixels within the covered ones, wrapping around. */
    static BitSet shifted(BitSet places, int[] seen, int by) {
        BitSet moved = new BitSet();
        for (int i = 0; i < seen.length; i++) {
            if (places.get(seen[i])) {
                moved.set(seen[(int) ((i + (long) by) % seen.length)]);
            }
        }
        return moved;
    }
}
