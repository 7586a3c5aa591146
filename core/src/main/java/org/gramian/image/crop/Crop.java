package org.gramian.image.crop;

import org.gramian.image.Image;
import org.gramian.image.resize.Resize;

/**
 * A square crop: the image is resized, a window is cut, and optionally flipped.
 *
 * @param width columns of the resized image
 * @param height rows of the resized image
 * @param left first column of the window
 * @param top first row of the window
 * @param size columns and rows of the window
 * @param mirrored whether the window is flipped horizontally
 * @since 0.1
 */
public record Crop(int width, int height, int left, int top, int size, boolean mirrored) {
    /** @throws IllegalArgumentException if the window is empty or does not lie inside the image */
    public Crop {
        if (size < 1 || left < 0 || top < 0 || left > width - size || top > height - size) {
            throw new IllegalArgumentException("a crop of size " + size + " at column " + left + ", row " + top
                    + " must lie inside an image of " + width + "×" + height);
        }
    }

    /** Returns the image resized for this crop; the image itself if it has that size. */
    public Image scale(Image image) {
        return fits(image) ? image : Resize.to(image, width, height);
    }

    /** Returns whether an image has the size that this crop is cut from. */
    public boolean fits(Image image) {
        return image.width() == width && image.height() == height;
    }

    /** As {@code 341x256+58+16/224}, with {@code mirrored} behind it. */
    @Override
    public String toString() {
        return width + "x" + height + "+" + left + "+" + top + "/" + size + (mirrored ? " mirrored" : "");
    }
}
