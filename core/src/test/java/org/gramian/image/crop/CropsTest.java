package org.gramian.image.crop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.image.Image;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.Sample.Box;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class CropsTest {
    private static Sample sample(String name) {
        return new Sample(name, 0, Path.of(name));
    }

    private static List<Crop> testing(String plan, int width, int height) {
        return CropPlan.parse(plan).testing().of(width, height, "a.png");
    }

    @RandomTest
    void cropsLieInsideImage(Seed seed) {
        SplittableRandom random = seed.random();
        CropPlan.Kind[] kinds = CropPlan.Kind.values();
        for (int i = 0; i < 50; i++) {
            CropPlan.Kind kind = kinds[random.nextInt(kinds.length)];
            boolean flips = kind != CropPlan.Kind.TEN && random.nextBoolean();
            CropPlan plan = new CropPlan(kind, random.nextInt(1, 600), flips);
            int width = random.nextInt(1, 3000);
            int height = random.nextInt(Math.ceilDiv(width, 32), Math.min(3000, 32 * width) + 1);
            for (Crops crops : List.of(plan.testing(), plan.training(random.nextLong()))) {
                List<Crop> found = crops.of(width, height, "x/" + i);
                assertThat(found).hasSize(crops.count());
                assertThat(found).allSatisfy(crop -> {
                    assertThat(crop.size()).isEqualTo(plan.size());
                    assertThat(crop.left()).isBetween(0, crop.width() - crop.size());
                    assertThat(crop.top()).isBetween(0, crop.height() - crop.size());
                });
            }
        }
    }

    @RandomTest
    void keepsAspectUnlessResized(Seed seed) {
        SplittableRandom random = seed.random();
        int width = random.nextInt(10, 2000);
        int height = random.nextInt(width / 10 + 1, width * 10);
        Crop crop = testing("center", width, height).getFirst();
        assertThat(Math.min(crop.width(), crop.height())).isEqualTo(256);
        double exact = 256.0 * Math.max(width, height) / Math.min(width, height);
        assertThat((double) Math.max(crop.width(), crop.height())).isBetween(exact - 0.51, exact + 0.51);
        assertThat(testing("resize", width, height)).containsExactly(new Crop(224, 224, 0, 0, 224, false));
    }

    @Test
    void paperTrainsOnFifteenAndTestsOnFiveCrops() {
        Crops training = CropPlan.parse("paper").training(1);
        Crops testing = CropPlan.parse("paper").testing();
        assertThat(training.count()).isEqualTo(15);
        assertThat(testing.count()).isEqualTo(5);
        assertThat(testing.of(512, 384, "a"))
                .containsExactly(
                        new Crop(341, 256, 58, 16, 224, false),
                        new Crop(341, 256, 0, 0, 224, false),
                        new Crop(341, 256, 117, 0, 224, false),
                        new Crop(341, 256, 0, 32, 224, false),
                        new Crop(341, 256, 117, 32, 224, false));
        assertThat(training.of(512, 384, "a").subList(0, 5)).isEqualTo(testing.of(512, 384, "a"));
        assertThat(new HashSet<>(training.of(512, 384, "a"))).hasSizeGreaterThan(12);
        assertThat(testing("center:448", 1000, 1000)).containsExactly(new Crop(512, 512, 32, 32, 448, false));
        assertThat(testing("center", 10, 20)).containsExactly(new Crop(256, 512, 16, 144, 224, false));
    }

    @Test
    void mirroredCropsFollowOriginals() {
        for (String plan : List.of("ten", "paper+flips", "center+flips", "resize:8+flips")) {
            Crops crops = CropPlan.parse(plan).training(3);
            List<Crop> found = crops.of(300, 400, "x");
            int half = found.size() / 2;
            for (int i = 0; i < half; i++) {
                Crop crop = found.get(i);
                assertThat(crop.mirrored()).isFalse();
                assertThat(found.get(half + i))
                        .isEqualTo(new Crop(crop.width(), crop.height(), crop.left(), crop.top(), crop.size(), true));
            }
        }
        assertThat(CropPlan.parse("ten").testing().count()).isEqualTo(10);
    }

    @RandomTest
    void randomCropsDependOnSeedAndName(Seed seed) {
        CropPlan plan = CropPlan.parse("paper");
        List<Crop> first = plan.training(seed.value()).of(700, 500, "wood/1.jpg");
        assertThat(plan.training(seed.value()).of(700, 500, "wood/1.jpg")).isEqualTo(first);
        assertThat(plan.training(seed.value()).of(700, 500, "wood/2.jpg")).isNotEqualTo(first);
        assertThat(plan.training(seed.value() + 1).of(700, 500, "wood/1.jpg")).isNotEqualTo(first);
    }

    @Test
    void keysIdentifyPixels() {
        Crops paper = CropPlan.parse("paper+flips").training(1);
        Crops other = CropPlan.parse("paper+flips").training(2);
        List<String> keys = IntStream.range(0, paper.count())
                .mapToObj(i -> paper.key(i, sample("a")))
                .toList();
        assertThat(keys).doesNotHaveDuplicates();
        assertThat(paper.key(0, sample("a")))
                .isEqualTo(other.key(0, sample("b")))
                .isEqualTo(CropPlan.parse("center").testing().key(0, sample("c")))
                .has(facts("256", "224"));
        assertThat(paper.key(5, sample("a")))
                .isNotEqualTo(paper.key(5, sample("b")))
                .isNotEqualTo(other.key(5, sample("a")));
        assertThat(CropPlan.parse("resize").testing().key(0, sample("a"))).has(facts("224"));
        assertThat(CropPlan.parse("center:225").testing().key(0, sample("a"))).isNotEqualTo(paper.key(0, sample("a")));
    }

    @Test
    void rejectsThinImages() {
        assertRejected(() -> testing("paper", 100_000_000, 1), "32", "'resize'");
        assertThat(testing("resize", 100_000_000, 1)).hasSize(1);
    }

    @Test
    void parseReadsText() {
        for (String text : List.of("paper:224", "center:8", "ten:448", "resize:100+flips", "center:448+flips+box")) {
            assertThat(CropPlan.parse(text).text()).isEqualTo(text);
        }
        assertThat(CropPlan.parse("paper").text()).isEqualTo("paper:224");
    }

    @Test
    void rejectsInvalidText() {
        for (String text : List.of(
                "",
                "papr",
                "paper:",
                "paper:x",
                "paper:0",
                "paper:5000",
                "ten+flips",
                "center:-1",
                "center:99999999999",
                "center+flips+flips")) {
            assertRejected(() -> CropPlan.parse(text));
        }
        assertThatThrownBy(() -> CropPlan.parse("papr"))
                .has(facts("paper", "center", "ten", "resize"))
                .has(facts("papr", "paper", "paper"));
    }

    @Test
    void rejectsCropOutsideImage() {
        assertRejected(() -> new Crop(10, 10, 3, 0, 8, false), "10×10");
        assertThat(new Crop(341, 256, 58, 16, 224, true)).has(facts("341x256+58+16/224"));
    }

    private static Sample boxed(double x, double y, double width, double height) {
        return new Sample("a", 0, Path.of("a"), Optional.of(new Box(x, y, width, height)));
    }

    @Test
    void boxCropsSeePixelsOfBox() {
        byte[] rgb = new byte[3 * 10 * 8];
        for (int i = 0; i < rgb.length; i++) {
            rgb[i] = (byte) i;
        }
        Image image = new Image(10, 8, rgb);
        ReadResult whole =
                new ReadResult.Readable(image, new ImageInfo(ImageFormat.PNG, ImageInfo.Colour.RGB, 8, 10, 8, 1));
        Crops crops = CropPlan.parse("resize+box").testing();
        Map.of(
                        boxed(2, 3, 4, 2), image.crop(2, 3, 4, 2),
                        boxed(2.5, 3.5, 1, 1), image.crop(2, 3, 2, 2),
                        boxed(8, 6, 1e300, 1e300), image.crop(8, 6, 2, 2))
                .forEach((sample, part) -> assertThat(((ReadResult.Readable) crops.validate(whole, sample.box()))
                                .image()
                                .rgb())
                        .isEqualTo(part.rgb()));
        for (Sample outside : List.of(boxed(10, 0, 5, 5), boxed(1e300, 0, 5, 5), sample("a"))) {
            assertThat(((ReadResult.Unreadable) crops.validate(whole, outside.box())).problem())
                    .isEqualTo(ReadResult.Problem.NO_BOX);
        }
        assertThat(CropPlan.parse("resize")
                        .testing()
                        .validate(whole, boxed(2, 3, 4, 2).box()))
                .isEqualTo(whole);
    }
}
