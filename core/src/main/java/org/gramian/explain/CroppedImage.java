package org.gramian.explain;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import org.gramian.image.Image;
import org.gramian.image.crop.Crop;
import org.gramian.image.crop.Preprocessing;
import org.gramian.model.ModelCard;
import org.gramian.tensor.Shape;

/** The test crops of an image, without the image itself, which may be large. */
public final class CroppedImage {
    private final CropPixels pixels;
    private final CropMosaic mosaic;

    private CroppedImage(CropPixels pixels, CropMosaic mosaic) {
        this.pixels = pixels;
        this.mosaic = mosaic;
    }

    /**
     * Crops an image by the card's test crops of the whole image.
     *
     * @throws IllegalArgumentException if the image is too small for crops
     */
    public static CroppedImage of(Image image, ModelCard card) {
        List<Crop> windows = card.crops().whole().testing().of(image.width(), image.height(), "");
        return new CroppedImage(
                CropPixels.of(image, windows, card.preprocessing()),
                CropMosaic.of(image.width(), image.height(), windows));
    }

    CropPixels pixels() {
        return pixels;
    }

    CropMosaic mosaic() {
        return mosaic;
    }

    /** Returns the approximate memory in bytes. */
    public long bytes() {
        return pixels.scaled().rgb().length;
    }

    /**
     * The input crops of a network, with an optional blank crop of the image's mean colour.
     *
     * @param scaled the image at the size that all crops are cut from
     */
    record CropPixels(Image scaled, List<Crop> crops, Preprocessing preprocessing) {
        /** Alignment of libtorch's tensors. */
        private static final long ALIGNMENT = 64;

        static CropPixels of(Image image, List<Crop> crops, Preprocessing preprocessing) {
            return new CropPixels(crops.getFirst().scale(image), crops, preprocessing);
        }

        /** Returns the shape {@code [n, 3, s, s]}, including the blank crop. */
        Shape shape(boolean blank) {
            int size = crops.getFirst().size();
            return Shape.of(crops.size() + (blank ? 1 : 0), 3, size, size);
        }

        /** Writes all crops, the blank one last. */
        MemorySegment write(Arena arena, boolean blank) {
            Shape shape = shape(blank);
            MemorySegment memory = arena.allocate(shape.elements() * Float.BYTES, ALIGNMENT);
            long bytes = memory.byteSize() / shape.at(0);
            for (int i = 0; i < crops.size(); i++) {
                preprocessing.write(scaled, crops.get(i), memory.asSlice(i * bytes, bytes));
            }
            if (blank) {
                Image nothing = MeanColourMask.blank(scaled);
                preprocessing.write(nothing, crops.getFirst(), memory.asSlice(crops.size() * bytes, bytes));
            }
            return memory;
        }

        /** Replaces an image, or a part of it, by its mean colour. */
        static final class MeanColourMask {
            private static final int CHANNELS = 3;

            private MeanColourMask() {}

            /** Returns a blank image of the same size. */
            static Image blank(Image image) {
                BitSet all = new BitSet();
                all.set(0, image.width() * image.height());
                return blank(image, all, image.width(), image.height());
            }

            /**
             * Blanks some cells of a grid over the image.
             *
             * @param places indexes of the cells
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
    }
}
