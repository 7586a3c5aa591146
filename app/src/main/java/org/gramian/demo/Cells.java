package org.gramian.demo;

import java.util.SplittableRandom;

/**
 * The plane divided among scattered points, each place to the nearest (Voronoi): dark seams between cells of different
 * brightness. There is one point in every unit square; the seam is where the nearest two are about as far (Worley 1996).
 */
record Cells(ValueNoise columns, ValueNoise rows, ValueNoise shades, double seam) implements Pattern {
    private static final double WANDER = 0.85;

    static Cells of(SplittableRandom random) {
        return new Cells(
                new ValueNoise(random), new ValueNoise(random), new ValueNoise(random), random.nextDouble(0.08, 0.22));
    }

    @Override
    public double at(double x, double y) {
        double nearest = Double.MAX_VALUE;
        double second = Double.MAX_VALUE;
        double shade = 0;
        for (long row = (long) Math.floor(y) - 1; row <= Math.floor(y) + 1; row++) {
            for (long column = (long) Math.floor(x) - 1; column <= Math.floor(x) + 1; column++) {
                double dx = column + 0.5 + WANDER * (columns.height(column, row) - 0.5) - x;
                double dy = row + 0.5 + WANDER * (rows.height(column, row) - 0.5) - y;
                double distance = dx * dx + dy * dy;
                if (distance < nearest) {
                    second = nearest;
                    nearest = distance;
                    shade = shades.height(column, row);
                } else if (distance < second) {
                    second = distance;
                }
            }
        }
        double inside = Pattern.step(0, seam, Math.sqrt(second) - Math.sqrt(nearest));
        return inside * (0.55 + 0.45 * shade);
    }
}
