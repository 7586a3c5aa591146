package org.gramian.gallery;

/**
 * A picture that is near to another.
 *
 * @param index of the picture in the gallery
 * @param distance of the short descriptors: from 0, the same, to about 2, the opposite
 */
public record Neighbour(int index, double distance) {}
