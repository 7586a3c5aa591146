package org.gramian.demo;

import java.util.SplittableRandom;

/**
 * How a pattern is seen in one image; nothing of it tells the class.
 *
 * <p><b>How hard the images are</b> is decided by the ranges in {@link #random}. They were chosen on images of the seed 101,
 * by two rules: a person names the class of nearly every image, and averaged filter responses with a linear classifier get
 * clearly fewer than all right, for else the demo would show nothing. The first ranges (any angle, a wider range of scales, more
 * noise) were too hard for a few hundred images: after 15 epochs averages got 36 % right. They were narrowed once, and
 * not changed since; how both poolings trained on the first ranges was known by then. The images of the demo's own seed played
 * no part.
 *
 * @param view from pixels to the plane of the pattern
 * @param light brightness over the image
 * @param ink colours of dark and light
 * @param blur standard deviation of the blur in pixels
 * @param noise standard deviation of the noise, of 255
 */
public record Scene(View view, Light light, Ink ink, double blur, double noise) {
    /**
     * Where the pattern lies: rotated, scaled, shifted and bent.
     *
     * @param cosine of the angle over the pixels of one repetition
     * @param sine the same
     * @param x shift in repetitions
     * @param y shift in repetitions
     * @param bend hills that carry the plane about
     * @param bent how far they do, in repetitions
     */
    public record View(double cosine, double sine, double x, double y, Pattern bend, double bent) {
        /** The brightness of a pattern at a pixel. */
        double of(Pattern pattern, double column, double row) {
            double u = cosine * column - sine * row + x;
            double v = sine * column + cosine * row + y;
            double du = bent * (bend.at(u * 0.3 + 7, v * 0.3) - 0.5);
            double dv = bent * (bend.at(u * 0.3, v * 0.3 + 23) - 0.5);
            return pattern.at(u + du, v + dv);
        }
    }

    /**
     * A gradient of light.
     *
     * @param across change from the left to the right edge, of 1
     * @param down change from the upper to the lower edge, of 1
     */
    public record Light(double across, double down) {
        /** The factor at a place between 0 and 1 from the left and from above. */
        double at(double x, double y) {
            return 1 + across * (x - 0.5) + down * (y - 0.5);
        }
    }

    /**
     * Two colours.
     *
     * @param dark where the pattern is 0
     * @param light where it is 1
     */
    public record Ink(Colour dark, Colour light) {
        /** Two colours whose brightness differs by a random contrast; which one is the brighter is random, too. */
        static Ink random(SplittableRandom random) {
            double contrast = random.nextDouble(50, 130);
            double middle = random.nextDouble(85, 170);
            double side = random.nextBoolean() ? contrast / 2 : -contrast / 2;
            return new Ink(Colour.about(middle - side, random), Colour.about(middle + side, random));
        }

        /** A channel of the colour between both. */
        double at(int channel, double height) {
            double from = dark.channel(channel);
            return from + (light.channel(channel) - from) * height;
        }
    }

    /** A colour, its channels from 0 to 255, or beyond before light and noise bring it back. */
    public record Colour(double red, double green, double blue) {
        private static final double TINT = 45;

        static Colour about(double brightness, SplittableRandom random) {
            return new Colour(
                    brightness + random.nextDouble(-TINT, TINT),
                    brightness + random.nextDouble(-TINT, TINT),
                    brightness + random.nextDouble(-TINT, TINT));
        }

        /** Red, green or blue by number. */
        double channel(int number) {
            return switch (number) {
                case 0 -> red;
                case 1 -> green;
                default -> blue;
            };
        }
    }

    /** A scene at random. */
    static Scene random(SplittableRandom random) {
        double angle = random.nextDouble(-0.6, 0.6);
        double period = StrictMath.exp(random.nextDouble(StrictMath.log(12), StrictMath.log(24)));
        View view = new View(
                StrictMath.cos(angle) / period,
                StrictMath.sin(angle) / period,
                random.nextDouble(30),
                random.nextDouble(30),
                new ValueNoise(random),
                random.nextDouble(0.1, 0.9));
        Light light = new Light(random.nextDouble(-0.7, 0.7), random.nextDouble(-0.7, 0.7));
        return new Scene(view, light, Ink.random(random), random.nextDouble(0.5, 1.6), random.nextDouble(4, 16));
    }
}
