package org.gramian.pooling;

import java.util.random.RandomGenerator;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.tensor.Tensor;

/** One step of a {@link Pooling}: a layer that knows its text form and how many channels leave it. */
public interface Stage extends Layer {
    /** The text that {@link Pooling#parse} reads back, as {@code conv:512}; arguments at their default are left out. */
    String text();

    /** The first word of its text, under which its parameters are kept. */
    default String word() {
        String text = text();
        int colon = text.indexOf(':');
        return colon < 0 ? text : text.substring(0, colon);
    }

    /**
     * Number of channels, matrix rows or vector elements that leave for the given number that enter.
     *
     * @throws IllegalArgumentException if that many cannot enter
     */
    long outputs(long channels);

    /**
     * How many images, at most, some of its parameters are fitted to before training; 0 if none are fitted. More than {@link
     * Fitting#USUAL_PICTURES} take memory, and seldom change what is found.
     */
    default int fittedTo() {
        return 0;
    }

    /**
     * Gives values to those of its parameters that are fitted to data.
     *
     * @param inputs what reaches this stage of a sample of training images, shaped as for {@link #apply}
     * @param parameters its own, under their own names
     * @param random for what is drawn while fitting
     */
    default void fit(Tensor inputs, ParameterSet parameters, RandomGenerator random) {}

    /** Whether a gradient reaches what enters: not so where every position is counted for one of several words. */
    default boolean isDifferentiable() {
        return true;
    }

    /**
     * The same with all decided that its text leaves open.
     *
     * @param place where it stands
     * @throws IllegalArgumentException if it cannot stand there
     */
    default Stage settled(PoolingContext place) {
        return this;
    }
}
