package org.gramian.gallery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.basis.CountSketch;
import org.gramian.gallery.Gallery.GalleryBuilder;
import org.gramian.gallery.Gallery.Item;
import org.gramian.gallery.Gallery.NearestImages;
import org.gramian.gallery.Gallery.NearestImages.Match;
import org.gramian.gallery.Gallery.Subset;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class NearestImagesTest {
    @RandomTest(times = 10)
    void findsWhatSortingAllTrainingImagesFinds(Seed seed) {
        SplittableRandom random = seed.random();
        Gallery gallery = TinyGallery.of(random, 12, 5);
        float[] wanted = CountSketch.of(5).describe(new float[][] {TinyGallery.descriptor(random, 5)});
        int count = random.nextInt(1, 20);
        List<Match> found = NearestImages.of(gallery).nearest(wanted, count);
        assertThat(found)
                .extracting(Match::index)
                .isEqualTo(IntStream.range(0, 12)
                        .boxed()
                        .sorted(Comparator.comparingDouble(i -> gallery.squaredDistance(i, wanted)))
                        .limit(count)
                        .toList());
        assertThat(found).extracting(Match::distance).isSorted();
    }

    @Test
    void firstOfEqualImagesWins() {
        GalleryBuilder builder = new GalleryBuilder(List.of("a"), 2, TinyGallery.MODEL);
        byte[] thumbnail = TinyGallery.thumbnail(new SplittableRandom(4));
        for (int i = 0; i < 6; i++) {
            builder.add(new Item("p" + i, 0, Subset.TRAINING), thumbnail, new float[][] {{1, i % 2}});
        }
        assertThat(NearestImages.of(builder.build()).nearest(new float[] {1, 0}, 4))
                .extracting(Match::index)
                .containsExactly(0, 2, 4, 1);
    }

    @Test
    void rejectsVectorsOfAnotherLength() {
        NearestImages images = NearestImages.of(TinyGallery.of(new SplittableRandom(1), 1, 5));
        assertRejected(() -> images.nearest(new float[4], 1), "5", "4");
        assertRejected(() -> images.nearest(new float[5], 0));
    }

    @Test
    void searchOfGalleryIsBuiltOnce() {
        Gallery gallery = TinyGallery.of(new SplittableRandom(1), 1, 5);
        assertThat(NearestImages.of(gallery)).isSameAs(NearestImages.of(gallery));
    }
}
