package org.gramian.gallery;

/**
 * An image that is near to another.
 *
 * @param index of the image in the gallery
 * @param distance of the short descriptors: from 0, the same, to about 2, the opposite
 */
public record Neighbour(int index, double distance) {}
