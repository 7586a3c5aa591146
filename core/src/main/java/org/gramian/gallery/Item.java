package org.gramian.gallery;

/**
 * One image of a gallery.
 *
 * @param name as in its dataset
 * @param label index of its class
 */
public record Item(String name, int label, Part part) {}
