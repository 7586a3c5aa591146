package org.gramian.demo;

import java.util.SplittableRandom;

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
        double right = TexturePattern.step(0, 1, x - column);
        double down = TexturePattern.step(0, 1, y - row);
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
