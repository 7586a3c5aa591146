package org.gramian.image.dataset;

/**
 * Bounding box of the object in an image, in pixels of the upright file; may have fractions.
 *
 * @param x columns left of the box, at least 0
 * @param y rows above the box, at least 0
 * @param width columns of the box, more than 0
 * @param height rows of the box, more than 0
 */
public record Box(double x, double y, double width, double height) {
    public Box {
        if (!(x >= 0 && y >= 0 && width > 0 && height > 0) || Double.isInfinite(x + y + width + height)) {
            throw new IllegalArgumentException("expected a box as x y width height with x, y >= 0 and width, height"
                    + " > 0, found " + x + " " + y + " " + width + " " + height);
        }
    }
}
