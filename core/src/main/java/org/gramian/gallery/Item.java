package org.gramian.gallery;

/**
 * One image of a gallery.
 *
 * @param name as in its dataset
 * @param label index of its class
 * @param part what it was to the model
 */
public record Item(String name, int label, Part part) {}
