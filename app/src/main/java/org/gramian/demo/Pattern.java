package org.gramian.demo;

/**
 * Brightness over the plane: 0 is dark, 1 is light, and one unit of length is about one repetition of the pattern.
 *
 * <p>Implementations compute with sums, products and square roots alone, which Java defines to the last bit, so that a seed gives
 * the same images on every machine.
 */
@FunctionalInterface
public interface Pattern {
    /** The brightness at a place, from 0 to 1. */
    double at(double x, double y);

    /** What is left of a number above the whole number below it, from 0 to 1. */
    static double fraction(double t) {
        return t - Math.floor(t);
    }

    /** A wave of period 1: 0 at whole numbers, 1 in the middle between them, straight between these. */
    static double wave(double t) {
        return 1 - Math.abs(2 * fraction(t) - 1);
    }

    /** 0 up to one edge, 1 from the other on, smooth between them. */
    static double step(double from, double to, double t) {
        double s = Math.clamp((t - from) / (to - from), 0.0, 1.0);
        return s * s * (3 - 2 * s);
    }
}
