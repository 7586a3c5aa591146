package org.gramian.image.dataset;

import java.nio.file.Path;
import java.util.Optional;

/**
 * One labelled image of a dataset.
 *
 * @param name its path below the dataset's root, with forward slashes on every system; unique
 * @param label the index of its class in {@link Dataset#classes}
 * @param box bounding box of its object, if the dataset has boxes, as CUB-200-2011
 */
public record Sample(String name, int label, Path file, Optional<Box> box) {
    /** An image without a box. */
    public Sample(String name, int label, Path file) {
        this(name, label, file, Optional.empty());
    }
}
