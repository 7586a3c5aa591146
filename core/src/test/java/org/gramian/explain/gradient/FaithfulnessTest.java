package org.gramian.explain.gradient;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.SplittableRandom;
import org.gramian.explain.Explanation.HeatMap;
import org.gramian.explain.gradient.Faithfulness.Trial;
import org.gramian.image.Image;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class FaithfulnessTest {
    /** Photographs of each of two materials that the classifier is made from, and as many that it is tried on. */
    private static final int IMAGES = 40;

    private static final Faithfulness FEW = new Faithfulness(0.2, 4, 1);

    @Test
    void hottestFifthOfAPlantedTextureMatters() {
        Image both = Models.halves(128, 128);
        ModelCard card = Models.card("resize:" + Models.SIZE);
        try (Model model =
                Models.telling("bilinear/triu/root/l2", Models.stripes(64, 64, true), Models.stripes(64, 64, false))) {
            HeatMap heat = Models.explain(model, card, both, 0).heat();
            Trial trial = Faithfulness.DEFAULT.of(model, card, both, heat, 0);
            assertThat(trial.holds()).isTrue();
            assertThat(trial.withoutHottest()).isLessThan(trial.whole());
            Trial again = Faithfulness.DEFAULT.of(model, card, both, heat, 0);
            assertThat(again).isEqualTo(trial);
        }
    }

    /** Crops of a wide image leave gaps between them, whose paint no score would notice. */
    @RandomTest(times = 20)
    void shiftedRegionIsAsLargeCoveredAndDifferent(Seed seed) {
        SplittableRandom random = seed.random();
        BitSet covered = new BitSet();
        random.ints(2 + random.nextInt(200), 0, 400).forEach(covered::set);
        covered.set(400);
        covered.set(401);
        int[] seen = covered.stream().toArray();
        BitSet places = new BitSet();
        int first = random.nextInt(seen.length);
        for (int i = 0; i < 1 + seen.length / 5; i++) {
            places.set(seen[(first + i) % seen.length]);
        }
        BitSet moved = Faithfulness.shifted(places, seen, 1 + random.nextInt(seen.length - 1));
        assertThat(moved.cardinality()).isEqualTo(places.cardinality());
        assertThat(moved.stream()).allMatch(covered::get);
        assertThat(moved).isNotEqualTo(places);
    }
}
