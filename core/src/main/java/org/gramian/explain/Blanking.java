package org.gramian.explain;

import java.util.BitSet;
import org.gramian.image.Picture;

/** Takes what there is to see out of a picture, or out of a part of it: the mean colour of the whole is put in its place. */
final class Blanking {
    private static final int CHANNELS = 3;

    private Blanking() {}

    /** A picture of the same size without anything to see. */
    static Picture blank(Picture picture) {
        BitSet all = new BitSet();
        all.set(0, picture.width() * picture.height());
        return blank(picture, all, picture.width(), picture.height());
    }

    /**
     * The picture without some places.
     *
     * @param places of a grid of that many columns and rows laid over the picture, by their index
     */
    static Picture blank(Picture picture, BitSet places, int columns, int rows) {
        byte[] mean = mean(picture);
        byte[] rgb = picture.rgb().clone();
        for (int y = 0; y < picture.height(); y++) {
            int row = (int) ((long) y * rows / picture.height());
            for (int x = 0; x < picture.width(); x++) {
                int column = (int) ((long) x * columns / picture.width());
                if (places.get(row * columns + column)) {
                    System.arraycopy(mean, 0, rgb, CHANNELS * (y * picture.width() + x), CHANNELS);
                }
            }
        }
        return new Picture(picture.width(), picture.height(), rgb);
    }

    private static byte[] mean(Picture picture) {
        long[] sums = new long[CHANNELS];
        byte[] rgb = picture.rgb();
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
