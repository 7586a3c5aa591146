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

/**
 * The test crops of an image, without the image itself, which may be large.
 *
 * @param mosaic combines maps of the crops to one of the image
 */
public record CroppedImage(Image scaled, List<Crop> crops, Preprocessing preprocessing, CropMosaic mosaic) {
    /** Alignment of libtorch's tensors. */
    private static final long ALIGNMENT = 64;

    private static final int CHANNELS = 3;

    /**
     * Crops an image by the card's test crops of the whole image.
     *
     * @throws IllegalArgumentException if the image is too small for crops
     */
    public static CroppedImage of(Image image, ModelCard card) {
        List<Crop> crops = card.crops().whole().testing().of(image.width(), image.height(), "");
        return new CroppedImage(
                crops.getFirst().scale(image),
                crops,
                card.preprocessing(),
                CropMosaic.of(image.width(), image.height(), crops));
    }

    /** Returns the approximate memory in bytes. */
    public long bytes() {
        return scaled.rgb().length;
    }

    /** Returns the shape {@code [n, 3, s, s]} of the crops, with an optional blank one of the image's mean colour. */
    Shape shape(boolean blank) {
        int size = crops.getFirst().size();
        return Shape.of(crops.size() + (blank ? 1 : 0), CHANNELS, size, size);
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
            BitSet whole = new BitSet();
            whole.set(0);
            preprocessing.write(
                    masked(whole, 1, 1).scaled, crops.getFirst(), memory.asSlice(crops.size() * bytes, bytes));
        }
        return memory;
    }

    /**
     * Replaces cells of a grid over the image by its mean colour.
     *
     * @param cells cells to replace, row by row
     */
    CroppedImage masked(BitSet cells, int columns, int rows) {
        long[] sums = new long[CHANNELS];
        byte[] rgb = scaled.rgb().clone();
        for (int i = 0; i < rgb.length; i++) {
            sums[i % CHANNELS] += rgb[i] & 0xff;
        }
        byte[] mean = new byte[CHANNELS];
        for (int i = 0; i < CHANNELS; i++) {
            mean[i] = (byte) Math.round((double) sums[i] * CHANNELS / rgb.length);
        }
        int width = scaled.width();
        for (int y = 0; y < scaled.height(); y++) {
            int row = (int) ((long) y * rows / scaled.height());
            for (int x = 0; x < width; x++) {
                int column = (int) ((long) x * columns / width);
                if (cells.get(row * columns + column)) {
                    System.arraycopy(mean, 0, rgb, CHANNELS * (y * width + x), CHANNELS);
                }
            }
        }
        return new CroppedImage(new Image(width, scaled.height(), rgb), crops, preprocessing, mosaic);
    }
}
