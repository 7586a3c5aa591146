package org.gramian.demo;

/**
 * Brightness over the plane, 0 (dark) to 1 (light). One unit of length is about one repetition of the pattern.
 *
 * <p>Implementations use sums, products and square roots only, which Java rounds identically everywhere: a seed gives the same
 * images on every machine.
 */
@FunctionalInterface
public interface TexturePattern {
    /** Returns the brightness at a point, 0 to 1. */
    double at(double x, double y);

    /** Returns the fractional part {@code t - floor(t)}. */
    static double fraction(double t) {
        return t - Math.floor(t);
    }

    /** Returns a triangle wave of period 1: 0 at integers, 1 halfway between them. */
    static double wave(double t) {
        return 1 - Math.abs(2 * fraction(t) - 1);
    }

    /** Returns a smoothstep from 0 at one edge to 1 at the other: {@code 3s² - 2s³}. */
    static double step(double from, double to, double t) {
        double s = Math.clamp((t - from) / (to - from), 0.0, 1.0);
        return s * s * (3 - 2 * s);
    }
}
