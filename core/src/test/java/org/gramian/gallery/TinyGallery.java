package org.gramian.gallery;

import java.util.List;
import java.util.SplittableRandom;
import org.gramian.gallery.Gallery.GalleryBuilder;
import org.gramian.gallery.Gallery.Item;
import org.gramian.gallery.Gallery.Subset;
import org.gramian.image.Image;
import org.gramian.image.resize.Thumbnail;

/** Galleries of few random images. */
final class TinyGallery {
    static final String MODEL = "0123456789abcdef".repeat(4);

    private TinyGallery() {}

    static Gallery of(SplittableRandom random, int perPart, int descriptorSize) {
        GalleryBuilder builder = new GalleryBuilder(List.of("a", "b \"ü\" 😀"), descriptorSize, MODEL);
        for (Subset part : Subset.values()) {
            for (int i = 0; i < perPart; i++) {
                Item item = new Item("ü/" + part + "/" + i + ".png", random.nextInt(2), part);
                builder.add(item, thumbnail(random), new float[][] {descriptor(random, descriptorSize)});
            }
        }
        return builder.leaveOut(Subset.TEST, 7).build();
    }

    static byte[] thumbnail(SplittableRandom random) {
        int width = random.nextInt(1, 200);
        byte[] rgb = new byte[3 * width * 5];
        random.nextBytes(rgb);
        return Thumbnail.of(new Image(width, 5, rgb));
    }

    static float[] descriptor(SplittableRandom random, int size) {
        float[] all = new float[size];
        for (int i = 0; i < size; i++) {
            all[i] = (float) random.nextGaussian();
        }
        return all;
    }
}
