package org.gramian.image.crop;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.image.Picture;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class CoveredTest {
    private static Picture random(SplittableRandom random, int width, int height) {
        byte[] rgb = new byte[3 * width * height];
        random.nextBytes(rgb);
        return new Picture(width, height, rgb);
    }

    @RandomTest
    void everyCropHasTheNumbersThatItHasOfTheWholePicture(Seed seed) {
        SplittableRandom random = seed.random();
        Picture picture = random(random, random.nextInt(20, 90), random.nextInt(20, 90));
        for (String plan : List.of("center:24", "paper:24+flips", "ten:16", "resize:33")) {
            List<Crop> crops = CropPlan.parse(plan).training(1).of(picture.width(), picture.height(), "a");
            Covered covered = Covered.of(picture, crops);
            Picture whole = crops.getFirst().scale(picture);
            for (int i = 0; i < crops.size(); i++) {
                assertThat(numbers(covered.part(), covered.crops().get(i))).isEqualTo(numbers(whole, crops.get(i)));
            }
        }
    }

    @Test
    void onlyTheMiddleIsScaledForACropFromTheMiddle() {
        Picture picture = random(new SplittableRandom(1), 512, 384);
        List<Crop> crops = CropPlan.parse("center").testing().of(512, 384, "a");
        assertThat(Covered.of(picture, crops).part()).hasToString("224×224");
    }

    @Test
    void aPictureOfTheRightSizeIsNotCopied() {
        Picture picture = random(new SplittableRandom(1), 341, 256);
        List<Crop> crops = CropPlan.parse("center").testing().of(341, 256, "a");
        assertThat(Covered.of(picture, crops).part()).isSameAs(picture);
    }

    private static float[] numbers(Picture scaled, Crop crop) {
        float[] numbers = new float[3 * crop.size() * crop.size()];
        Preprocessing.CAFFE.write(scaled, crop, MemorySegment.ofArray(numbers));
        return numbers;
    }
}
