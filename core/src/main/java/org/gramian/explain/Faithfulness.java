package org.gramian.explain;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.image.Image;
import org.gramian.image.crop.Crop;
import org.gramian.model.Engine;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;

/**
 * Tries whether a heat map tells the truth: takes the hottest part out of the image, and a region of the same size and shape
 * that lies elsewhere, and compares what becomes of the score.
 *
 * <p>Taken out means painted over with the image's mean colour. The other region is the hottest part shifted by a random
 * number of places, never none, along the rows of what the crops reach, what leaves a row going on in the next and what
 * leaves the last row coming back in the first: it has as many places, all of which the model sees. Of several such draws
 * the mean is taken.
 *
 * @param share of what the crops reach that is taken out, between 0 and 1
 * @param draws how many other regions
 * @param seed where they lie
 */
public record Faithfulness(double share, int draws, long seed) {
    /** A fifth of the image against eight other regions. */
    public static final Faithfulness USUAL = new Faithfulness(0.2, 8, 1);

    public Faithfulness {
        if (!(share > 0 && share < 1) || draws < 1) {
            throw new IllegalArgumentException(
                    "expected a fraction between 0 and 1 and at least one draw, found " + share + " and " + draws);
        }
    }

    /**
     * Scores of a class, each the mean over the crops.
     *
     * @param whole of the image as it is
     * @param withoutHottest of the image without its hottest part
     * @param withoutOther of the image without a region elsewhere, the mean of all draws
     */
    public record Trial(double whole, double withoutHottest, double withoutOther) {
        /** Whether the hottest part matters more than others. */
        public boolean holds() {
            return withoutHottest < withoutOther;
        }
    }

    /** Tries the map of one image. */
    public Trial of(Model model, ModelCard card, Image image, Explained explained) {
        List<Crop> crops = card.crops().whole().testing().of(image.width(), image.height(), "");
        CropPixels pixels = CropPixels.of(image, crops, card.preprocessing());
        HeatMap heat = explained.heat();
        BitSet hottest = heat.top(share);
        SplittableRandom random = new SplittableRandom(seed);
        int[] seen = heat.covered().stream().toArray();
        double others = 0;
        for (int i = 0; i < draws; i++) {
            BitSet moved = shifted(hottest, seen, 1 + random.nextInt(Math.max(1, seen.length - 1)));
            others += score(model, without(pixels, moved, heat), explained.label()) / draws;
        }
        double whole = score(model, pixels, explained.label());
        double withoutHottest = score(model, without(pixels, hottest, heat), explained.label());
        return new Trial(whole, withoutHottest, others);
    }

    /** A map and the class that it is of. */
    public record Explained(HeatMap heat, int label) {}

    private static CropPixels without(CropPixels pixels, BitSet places, HeatMap heat) {
        Image part = MeanColourMask.blank(pixels.scaled(), places, heat.width(), heat.height());
        return new CropPixels(part, pixels.crops(), pixels.preprocessing());
    }

    private static double score(Model model, CropPixels pixels, int label) {
        try (Arena arena = Arena.ofConfined()) {
            float[][] scores =
                    Engine.of(model).compute(pixels.write(arena, false), pixels.shape(false), Engine.Rows.SCORES);
            return Arrays.stream(scores)
                    .mapToDouble(row -> row[label])
                    .average()
                    .orElseThrow();
        }
    }

    /**
     * The places that come so many after others among those that are seen.
     *
     * @param seen ascending, all of the places among them
     */
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
