package org.gramian.gallery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.gramian.testing.Facts.facts;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.gallery.NearestImages.Neighbour;
import org.gramian.gallery.NearestImages.Neighbours;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class NearestImagesTest {
    @RandomTest(times = 10)
    void theNearestAreThoseThatSortingAllWouldGive(Seed seed) {
        SplittableRandom random = seed.random();
        Gallery gallery = TinyGallery.of(random, 12, 5);
        Part part = random.nextBoolean() ? Part.TRAINING : Part.TEST;
        float[] wanted = CountSketch.of(5).describe(new float[][] {TinyGallery.descriptor(random, 5)});
        List<Neighbour> all = new ArrayList<>();
        for (int i = 0; i < gallery.items().size(); i++) {
            if (gallery.items().get(i).part() == part) {
                double sum = 0;
                for (int j = 0; j < 5; j++) {
                    sum += Math.pow((double) gallery.vector(i)[j] - wanted[j], 2);
                }
                all.add(new Neighbour(i, Math.sqrt(sum)));
            }
        }
        all.sort(Comparator.comparingDouble(Neighbour::distance));
        int count = random.nextInt(1, 20);
        List<Neighbour> found = Neighbours.of(gallery, part).nearest(wanted, count);
        assertThat(found)
                .extracting(Neighbour::index)
                .isEqualTo(all.stream().limit(count).map(Neighbour::index).toList());
        assertThat(found).extracting(Neighbour::distance).isSorted();
    }

    @Test
    void anImageOfTheGalleryIsItsOwnNearest() {
        Gallery gallery = TinyGallery.of(new SplittableRandom(3), 8, 3000);
        for (int i = 0; i < 8; i++) {
            assertThat(Neighbours.of(gallery, Part.TRAINING).nearest(gallery.vector(i), 1))
                    .containsExactly(new Neighbour(i, 0));
        }
    }

    @Test
    void amongEqualImagesTheFirstWins() {
        SplittableRandom random = new SplittableRandom(4);
        GalleryBuilder builder = new GalleryBuilder(List.of("a"), 2, TinyGallery.MODEL);
        for (int i = 0; i < 6; i++) {
            builder.add(new Item("p" + i, 0, Part.TRAINING), TinyGallery.thumbnail(random), new float[][] {{1, i % 2}});
        }
        assertThat(Neighbours.of(builder.build(), Part.TRAINING).nearest(new float[] {1, 0}, 4))
                .extracting(Neighbour::index)
                .containsExactly(0, 2, 4, 1);
    }

    @Test
    void aPartWithoutImagesHasNoNeighbours() {
        Gallery empty = new GalleryBuilder(List.of("a"), 2, TinyGallery.MODEL).build();
        assertThat(Neighbours.of(empty, Part.TEST).nearest(new float[2], 3)).isEmpty();
    }

    @Test
    void aVectorOfAnotherLengthIsRefused() {
        Neighbours neighbours = Neighbours.of(TinyGallery.of(new SplittableRandom(1), 1, 5), Part.TEST);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> neighbours.nearest(new float[4], 1))
                .has(facts("5", "4"));
        assertThatIllegalArgumentException().isThrownBy(() -> neighbours.nearest(new float[5], 0));
    }
}
