package org.gramian.image.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.image.Image;
import org.gramian.image.crop.Crop;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Preprocessing;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class CropRegionTest {
    private static Image random(SplittableRandom random, int width, int height) {
        byte[] rgb = new byte[3 * width * height];
        random.nextBytes(rgb);
        return new Image(width, height, rgb);
    }

    @RandomTest
    void cropsEqualThoseOfWholeImage(Seed seed) {
        SplittableRandom random = seed.random();
        Image image = random(random, random.nextInt(20, 90), random.nextInt(20, 90));
        for (String plan : List.of("center:24", "paper:24+flips", "ten:16", "resize:33")) {
            List<Crop> crops = CropPlan.parse(plan).training(1).of(image.width(), image.height(), "a");
            Rendering.CropRegion region = Rendering.CropRegion.of(image, crops);
            Image whole = crops.getFirst().scale(image);
            for (int i = 0; i < crops.size(); i++) {
                assertThat(numbers(region.part(), region.crops().get(i))).isEqualTo(numbers(whole, crops.get(i)));
            }
        }
    }

    @Test
    void resizesOnlyRegionOfCrops() {
        Image image = random(new SplittableRandom(1), 512, 384);
        List<Crop> crops = CropPlan.parse("center").testing().of(512, 384, "a");
        assertThat(Rendering.CropRegion.of(image, crops).part()).hasToString("224×224");
    }

    private static float[] numbers(Image scaled, Crop crop) {
        float[] numbers = new float[3 * crop.size() * crop.size()];
        Preprocessing.CAFFE.write(scaled, crop, MemorySegment.ofArray(numbers));
        return numbers;
    }
}
