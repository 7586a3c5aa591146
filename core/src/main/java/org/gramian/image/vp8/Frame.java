package org.gramian.image.vp8;

/**
 * A decoded frame.
 *
 * @param width columns
 * @param height rows
 * @param rgb red, green and blue of each pixel, row by row, {@code 3·width·height} bytes
 */
@SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
public record Frame(int width, int height, byte[] rgb) {}
