package org.gramian.image.dataset;

import java.nio.file.Path;
import java.util.Optional;

/**
 * One labelled image of a dataset.
 *
 * @param name its path below the dataset's root, with forward slashes on every system; unique
 * @param label the index of its class in {@link Dataset#classes}
 * @param box bounding box of its object, if the dataset has boxes, as CUB-200-2011
 * @since 0.1
 */
public record Sample(String name, int label, Path file, Optional<Box> box) {
    /** An image without a box. */
    public Sample(String name, int label, Path file) {
        this(name, label, file, Optional.empty());
    }

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
}
