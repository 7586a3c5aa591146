package org.gramian.explain;

import java.util.BitSet;
import org.gramian.image.Image;

/** Takes what there is to see out of an image, or out of a part of it: the mean colour of the whole is put in its place. */
final class MeanColourMask {
    private static final int CHANNELS = 3;

    private MeanColourMask() {}

    /** An image of the same size without anything to see. */
    static Image blank(Image image) {
        BitSet all = new BitSet();
        all.set(0, image.width() * image.height());
        return blank(image, all, image.width(), image.height());
    }

    /**
     * The image without some places.
     *
     * @param places of a grid of that many columns and rows laid over the image, by their index
     */
    static Image blank(Image image, BitSet places, int columns, int rows) {
        byte[] mean = mean(image);
        byte[] rgb = image.rgb().clone();
        for (int y = 0; y < image.height(); y++) {
            int row = (int) ((long) y * rows / image.height());
            for (int x = 0; x < image.width(); x++) {
                int column = (int) ((long) x * columns / image.width());
                if (places.get(row * columns + column)) {
                    System.arraycopy(mean, 0, rgb, CHANNELS * (y * image.width() + x), CHANNELS);
                }
            }
        }
        return new Image(image.width(), image.height(), rgb);
    }

    private static byte[] mean(Image image) {
        long[] sums = new long[CHANNELS];
        byte[] rgb = image.rgb();
        for (int i = 0; i < rgb.length; i++) {
            sums[i % CHANNELS] += rgb[i] & 0xff;
        }
        byte[] mean = new byte[CHANNELS];
        for (int i = 0; i < CHANNELS; i++) {
            mean[i] = (byte) Math.round((double) sums[i] * CHANNELS / rgb.length);
        }
        return mean;
    }
}
