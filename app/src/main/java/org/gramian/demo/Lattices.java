package org.gramian.demo;

import static org.gramian.demo.Pattern.fraction;
import static org.gramian.demo.Pattern.step;
import static org.gramian.demo.Pattern.wave;

import java.util.SplittableRandom;

/** Patterns that repeat: stripes, checks, dots, weave, bricks, scales and hatching, each with random proportions. */
final class Lattices {
    private Lattices() {}

    /** Bars, broad or narrow, with soft or hard edges. */
    static Pattern stripes(SplittableRandom random) {
        double middle = random.nextDouble(0.3, 0.7);
        double soft = random.nextDouble(0.08, 0.35);
        return (x, _) -> step(middle - soft, middle + soft, wave(x));
    }

    /** Squares or oblongs, light and dark in turn. */
    static Pattern checks(SplittableRandom random) {
        double aspect = random.nextDouble(0.75, 1.35);
        double soft = random.nextDouble(0.08, 0.3);
        return (x, y) -> {
            double across = 2 * step(0.5 - soft, 0.5 + soft, wave(x)) - 1;
            double along = 2 * step(0.5 - soft, 0.5 + soft, wave(y * aspect)) - 1;
            return (1 + across * along) / 2;
        };
    }

    /** Discs on a square or staggered lattice. */
    static Pattern dots(SplittableRandom random) {
        double radius = random.nextDouble(0.22, 0.4);
        double soft = random.nextDouble(0.03, 0.12);
        double stagger = random.nextBoolean() ? 0.5 : 0;
        return (x, y) -> {
            double dx = fraction(x + stagger * Math.floorMod((long) Math.floor(y), 2)) - 0.5;
            double dy = fraction(y) - 0.5;
            return step(radius + soft, radius - soft, Math.sqrt(dx * dx + dy * dy));
        };
    }

    /** Threads that go over and under each other in turn, each rounded. */
    static Pattern weave(SplittableRandom random) {
        double gap = random.nextDouble(0.05, 0.25);
        double depth = random.nextDouble(0.4, 0.8);
        return (x, y) -> {
            boolean over = Math.floorMod((long) Math.floor(x) + (long) Math.floor(y), 2) == 0;
            double across = over ? wave(y) : wave(x);
            double along = over ? wave(x) : wave(y);
            return step(0, gap * 2, across) * (1 - depth * (1 - across)) * (0.6 + 0.4 * step(0, 0.6, along));
        };
    }

    /** Oblong bricks, each row shifted, in mortar; every brick has its own brightness. */
    static Pattern bricks(SplittableRandom random) {
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

    /** Rows of round scales, each row over half of the next. */
    static Pattern scales(SplittableRandom random) {
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

    /** Two families of thin lines that cross under some angle. */
    static Pattern hatching(SplittableRandom random) {
        double lean = random.nextDouble(-0.8, 0.8);
        double ratio = random.nextDouble(0.8, 1.25);
        double width = random.nextDouble(0.14, 0.3);
        double second = random.nextDouble(0.6, 1);
        return (x, y) -> {
            double ink = step(width, width / 3, wave(x));
            double crossing = second * step(width, width / 3, wave(ratio * (y + lean * x)));
            return 1 - Math.max(ink, crossing);
        };
    }
}
