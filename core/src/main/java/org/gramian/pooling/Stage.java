package org.gramian.pooling;

import org.gramian.autodiff.Layer;

/** One step of a {@link Pooling}: a layer that knows its text form and how many channels leave it. */
public interface Stage extends Layer {
    /** The text that {@link Pooling#parse} reads back, as {@code conv:512}; arguments at their default are left out. */
    String text();

    /**
     * Number of channels, matrix rows or vector elements that leave for the given number that enter.
     *
     * @throws IllegalArgumentException if that many cannot enter
     */
    long outputs(long channels);
}
