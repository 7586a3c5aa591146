package org.gramian.demo;

import java.util.SplittableRandom;

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

    /**
     * Value noise: random values at integer coordinates, interpolated smoothly. Repeats every {@value #SIDE} units, which is more
     * than an image shows.
     */
    final class ValueNoise implements TexturePattern {
        private static final int SIDE = 64;

        private final double[] heights;

        ValueNoise(SplittableRandom random) {
            heights = random.doubles((long) SIDE * SIDE).toArray();
        }

        /** Returns the value of a lattice point, 0 to 1. */
        double height(long column, long row) {
            return heights[Math.floorMod(row, SIDE) * SIDE + Math.floorMod(column, SIDE)];
        }

        @Override
        public double at(double x, double y) {
            long column = (long) Math.floor(x);
            long row = (long) Math.floor(y);
            double right = step(0, 1, x - column);
            double down = step(0, 1, y - row);
            double above = mix(height(column, row), height(column + 1, row), right);
            double below = mix(height(column, row + 1), height(column + 1, row + 1), right);
            return mix(above, below, down);
        }

        /** Returns the sum of three octaves, each of half the size and amplitude of the last (turbulence, Perlin 1985). */
        double turbulence(double x, double y) {
            return (4 * at(x, y) + 2 * at(2 * x + 17, 2 * y + 5) + at(4 * x + 31, 4 * y + 41)) / 7;
        }

        private static double mix(double first, double second, double share) {
            return first + (second - first) * share;
        }
    }
}
