package org.gramian.train.feature;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.gramian.basis.Sha256;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;

/** Features that follow from their number, so that a wrong one is known from a right one. */
final class SyntheticFeatures {
    static final String CROP = "short side 256, center 224";

    private static final int PERIOD = 61;

    private SyntheticFeatures() {}

    static FeatureRecipe recipe() {
        return new FeatureRecipe("made-up", "top/layer", "0123abcd", Preprocessing.CAFFE, DType.F32, "none");
    }

    static byte[] image(int number) {
        return Sha256.of(("image " + number).getBytes(StandardCharsets.UTF_8));
    }

    /** Of very different lengths, not all of them multiples of anything; cheap to make, a pattern of odd period. */
    static byte[] feature(int number) {
        SplittableRandom random = new SplittableRandom(number);
        byte[] feature = new byte[random.nextInt(1, number % 4 == 0 ? 2_000_000 : 3_000)];
        byte[] pattern = new byte[PERIOD];
        random.nextBytes(pattern);
        System.arraycopy(pattern, 0, feature, 0, Math.min(PERIOD, feature.length));
        for (int done = PERIOD; done < feature.length; done *= 2) {
            System.arraycopy(feature, 0, feature, done, Math.min(done, feature.length - done));
        }
        return feature;
    }

    static void put(FeatureCache cache, int number) {
        cache.put(image(number), CROP, MemorySegment.ofArray(feature(number)));
    }
}
