package org.gramian.image.dataset.layout;

import java.nio.file.Path;
import java.util.Optional;
import org.gramian.image.dataset.Box;

/**
 * An image that a layout found, before classes have numbers.
 *
 * @param name its path below the root, with forward slashes
 * @param category the name of its class
 * @param file where it is
 * @param box where its object is, if known
 */
record Entry(String name, String category, Path file, Optional<Box> box) {}
