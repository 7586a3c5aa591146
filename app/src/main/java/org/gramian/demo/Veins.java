package org.gramian.demo;

import java.util.SplittableRandom;

/** Patterns that turbulence bends: the veins of marble and the rings of wood. */
final class Veins {
    private Veins() {}

    /** Thin dark veins where a wave that turbulence carries about is near 0. */
    static Pattern marble(SplittableRandom random) {
        ValueNoise noise = new ValueNoise(random);
        double strength = random.nextDouble(2.2, 3.6);
        double vein = random.nextDouble(0.35, 0.8);
        return (x, y) -> {
            double cloud = noise.turbulence(x * 0.5, y * 0.5);
            double carried = x * 0.45 + strength * cloud;
            return Pattern.step(0, vein, Pattern.wave(carried)) * (0.65 + 0.35 * cloud);
        };
    }

    /** Rings about a heart outside the image: slow towards one edge, then a sharp one, with grain along them. */
    static Pattern wood(SplittableRandom random) {
        ValueNoise noise = new ValueNoise(random);
        double heart = random.nextDouble(4, 14);
        double bend = random.nextDouble(0.5, 1.3);
        double grain = random.nextDouble(0.15, 0.4);
        return (x, y) -> {
            double dx = x + heart;
            double dy = y * 0.6;
            double radius = Math.sqrt(dx * dx + dy * dy) + bend * noise.at(x * 0.35, y * 0.15);
            double ring = Pattern.fraction(radius);
            double early = Pattern.step(0, 0.75, ring) * Pattern.step(1, 0.88, ring);
            return (1 - early * 0.8) * (1 - grain * noise.at(x * 6, y * 0.7));
        };
    }
}
