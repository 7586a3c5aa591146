package org.gramian.image.crop;

import org.gramian.image.Picture;
import org.gramian.image.Resize;

/**
 * A square taken from a picture: the picture is brought to a size first, then a window is cut out, then perhaps mirrored.
 *
 * @param width columns that the picture is brought to
 * @param height rows that the picture is brought to
 * @param left first column of the window
 * @param top first row of the window
 * @param size columns and rows of the window
 * @param mirrored whether left and right are exchanged
 */
public record Crop(int width, int height, int left, int top, int size, boolean mirrored) {
    /** @throws IllegalArgumentException if the window is empty or does not lie inside the picture */
    public Crop {
        if (size < 1 || left < 0 || top < 0 || left > width - size || top > height - size) {
            throw new IllegalArgumentException("a crop of size " + size + " at column " + left + ", row " + top
                    + " must lie inside an image of " + width + "×" + height);
        }
    }

    /** The picture at the size that this crop is cut from; the picture itself where it has that size. */
    public Picture scale(Picture picture) {
        return fits(picture) ? picture : Resize.to(picture, width, height);
    }

    /** Whether a picture has the size that this crop is cut from. */
    public boolean fits(Picture picture) {
        return picture.width() == width && picture.height() == height;
    }

    /** As {@code 341x256+58+16/224}, with {@code mirrored} behind it. */
    @Override
    public String toString() {
        return width + "x" + height + "+" + left + "+" + top + "/" + size + (mirrored ? " mirrored" : "");
    }
}
