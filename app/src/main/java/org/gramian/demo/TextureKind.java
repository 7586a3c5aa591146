package org.gramian.demo;

import static org.gramian.demo.TexturePattern.fraction;
import static org.gramian.demo.TexturePattern.step;
import static org.gramian.demo.TexturePattern.wave;

import java.util.Locale;
import java.util.SplittableRandom;
import org.gramian.demo.TexturePattern.ValueNoise;

/** Classes of the demo images, each with a procedural pattern of random proportions. */
public enum TextureKind {
    BRICKS,
    CELLS,
    CHECKS,
    DOTS,
    HATCHING,
    MARBLE,
    SCALES,
    STRIPES,
    WEAVE,
    WOOD;

    /** Returns the name of the class and of its folder. */
    public String folder() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Generates a pattern of this kind. */
    public TexturePattern pattern(SplittableRandom random) {
        return switch (this) {
            case BRICKS -> bricks(random);
            case CELLS -> Cells.of(random);
            case CHECKS -> checks(random);
            case DOTS -> dots(random);
            case HATCHING -> hatching(random);
            case MARBLE -> marble(random);
            case SCALES -> scales(random);
            case STRIPES -> stripes(random);
            case WEAVE -> weave(random);
            case WOOD -> wood(random);
        };
    }

    /** Parallel bars with soft or hard edges. */
    private static TexturePattern stripes(SplittableRandom random) {
        double middle = random.nextDouble(0.3, 0.7);
        double soft = random.nextDouble(0.08, 0.35);
        return (x, _) -> step(middle - soft, middle + soft, wave(x));
    }

    /** Checkerboard of squares or rectangles. */
    private static TexturePattern checks(SplittableRandom random) {
        double aspect = random.nextDouble(0.75, 1.35);
        double soft = random.nextDouble(0.08, 0.3);
        return (x, y) -> {
            double across = 2 * step(0.5 - soft, 0.5 + soft, wave(x)) - 1;
            double along = 2 * step(0.5 - soft, 0.5 + soft, wave(y * aspect)) - 1;
            return (1 + across * along) / 2;
        };
    }

    /** Discs on a square or staggered lattice. */
    private static TexturePattern dots(SplittableRandom random) {
        double radius = random.nextDouble(0.22, 0.4);
        double soft = random.nextDouble(0.03, 0.12);
        double stagger = random.nextBoolean() ? 0.5 : 0;
        return (x, y) -> {
            double dx = fraction(x + stagger * Math.floorMod((long) Math.floor(y), 2)) - 0.5;
            double dy = fraction(y) - 0.5;
            return step(radius + soft, radius - soft, Math.sqrt(dx * dx + dy * dy));
        };
    }

    /** Plain weave of rounded threads. */
    private static TexturePattern weave(SplittableRandom random) {
        double gap = random.nextDouble(0.05, 0.25);
        double depth = random.nextDouble(0.4, 0.8);
        return (x, y) -> {
            boolean over = Math.floorMod((long) Math.floor(x) + (long) Math.floor(y), 2) == 0;
            double across = over ? wave(y) : wave(x);
            double along = over ? wave(x) : wave(y);
            return step(0, gap * 2, across) * (1 - depth * (1 - across)) * (0.6 + 0.4 * step(0, 0.6, along));
        };
    }

    /** Rows of bricks in mortar, each row shifted, each brick of its own brightness. */
    private static TexturePattern bricks(SplittableRandom random) {
        double aspect = random.nextDouble(1.7, 2.6);
        double mortar = random.nextDouble(0.06, 0.14);
        double shift = random.nextDouble(0.35, 0.65);
        ValueNoise shades = new ValueNoise(random);
        return (x, y) -> {
            double row = Math.floor(y * 1.4);
            double place = x * 1.4 / aspect + row * shift;
            double side = Math.min(fraction(place), 1 - fraction(place)) * aspect;
            double edge = Math.min(fraction(y * 1.4), 1 - fraction(y * 1.4));
            double shade = 0.55 + 0.45 * shades.height((long) Math.floor(place), (long) row);
            return shade * step(mortar / 2, mortar * 1.5, Math.min(side, edge));
        };
    }

    /** Rows of round scales that overlap by half. */
    private static TexturePattern scales(SplittableRandom random) {
        double reach = random.nextDouble(0.95, 1.15);
        double rim = random.nextDouble(0.12, 0.25);
        double depth = random.nextDouble(0.3, 0.7);
        return (x, y) -> {
            double rows = 2 * y;
            for (double row = Math.floor(rows) + 1; row >= Math.floor(rows) - 1; row--) {
                double dx = 2 * (fraction(x + (Math.floorMod((long) row, 2) == 0 ? 0 : 0.5)) - 0.5);
                double dy = rows - row;
                double distance = Math.sqrt(dx * dx + dy * dy);
                if (distance < reach && dy > -reach) {
                    return step(reach, reach - 2 * rim, distance) * (1 - depth * distance / reach);
                }
            }
            return 0;
        };
    }

    /** Two families of thin lines that cross at a random angle. */
    private static TexturePattern hatching(SplittableRandom random) {
        double lean = random.nextDouble(-0.8, 0.8);
        double ratio = random.nextDouble(0.8, 1.25);
        double width = random.nextDouble(0.14, 0.3);
        double second = random.nextDouble(0.6, 1);
        return (x, y) -> {
            double line = step(width, width / 3, wave(x));
            double crossing = second * step(width, width / 3, wave(ratio * (y + lean * x)));
            return 1 - Math.max(line, crossing);
        };
    }

    /** Thin dark veins where a wave displaced by turbulence is near 0 (Perlin 1985). */
    private static TexturePattern marble(SplittableRandom random) {
        ValueNoise noise = new ValueNoise(random);
        double strength = random.nextDouble(2.2, 3.6);
        double vein = random.nextDouble(0.35, 0.8);
        return (x, y) -> {
            double cloud = noise.turbulence(x * 0.5, y * 0.5);
            double displaced = x * 0.45 + strength * cloud;
            return step(0, vein, wave(displaced)) * (0.65 + 0.35 * cloud);
        };
    }

    /** Annual rings about a centre outside the image, each with one soft and one sharp edge, and grain along them. */
    private static TexturePattern wood(SplittableRandom random) {
        ValueNoise noise = new ValueNoise(random);
        double centre = random.nextDouble(4, 14);
        double bend = random.nextDouble(0.5, 1.3);
        double grain = random.nextDouble(0.15, 0.4);
        return (x, y) -> {
            double dx = x + centre;
            double dy = y * 0.6;
            double radius = Math.sqrt(dx * dx + dy * dy) + bend * noise.at(x * 0.35, y * 0.15);
            double ring = fraction(radius);
            double early = step(0, 0.75, ring) * step(1, 0.88, ring);
            return (1 - early * 0.8) * (1 - grain * noise.at(x * 6, y * 0.7));
        };
    }

    /**
     * Voronoi cells with dark seams (Worley 1996): every unit square holds one feature point; the seam is where the two
     * nearest are about equally far.
     */
    private record Cells(ValueNoise columns, ValueNoise rows, ValueNoise shades, double seam)
            implements TexturePattern {
        private static final double WANDER = 0.85;

        static Cells of(SplittableRandom random) {
            return new Cells(
                    new ValueNoise(random),
                    new ValueNoise(random),
                    new ValueNoise(random),
                    random.nextDouble(0.08, 0.22));
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
            double inside = step(0, seam, Math.sqrt(second) - Math.sqrt(nearest));
            return inside * (0.55 + 0.45 * shade);
        }
    }
}
