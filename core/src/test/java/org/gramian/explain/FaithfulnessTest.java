package org.gramian.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.explain.Faithfulness.Trial;
import org.gramian.image.Image;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.testing.SharedFolder;
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

    @Test
    void hottestFifthOfMostPhotographsMatters() throws IOException {
        assumeTrue(Boolean.getBoolean("gramian.full"), "under gramian.full");
        List<List<Image>> seen = List.of(photographs("foliage", 0), photographs("water", 0));
        List<List<Image>> fresh = List.of(photographs("foliage", IMAGES), photographs("water", IMAGES));
        Backbone backbone = Backbone.of("squeezenet");
        int tried = 0;
        int held = 0;
        try (Arena arena = Arena.ofConfined()) {
            Weights weights = Weights.read(
                    "squeezenet", SharedFolder.require("weights/squeezenet-1.1.safetensors"), arena, _ -> {});
            ModelCard card = Models.card("center", weights.preprocessing());
            Head head = new Head(Pooling.parse("bilinear/triu/root/l2"), 2, false);
            ParameterSet parameters = weights.load(backbone, DType.F32, Device.CPU);
            try (Model model = Model.begin(backbone, parameters, head, new SplittableRandom(1), Device.CPU)) {
                Models.teach(model, card, seen.getFirst(), seen.getLast());
                for (int label = 0; label < 2; label++) {
                    for (Image image : fresh.get(label)) {
                        Explanation why = Models.explain(model, card, image, label);
                        if (why.isAnswer()) {
                            tried++;
                            Trial trial = FEW.of(model, card, image, why.heat(), label);
                            held += trial.holds() ? 1 : 0;
                        }
                    }
                }
            }
        }
        assertThat(tried).as("rightly classified").isGreaterThanOrEqualTo(IMAGES);
        assertThat((double) held / tried).as("%d of %d", held, tried).isGreaterThanOrEqualTo(0.8);
    }

    private static List<Image> photographs(String material, int from) throws IOException {
        try (Stream<Path> files = Files.list(SharedFolder.require("data/fmd").resolve(material))) {
            return files.sorted()
                    .skip(from)
                    .limit(IMAGES)
                    .map(file -> ((ReadResult.Readable) new ImageReader(ImageLimits.DEFAULT).read(file)).image())
                    .toList();
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
