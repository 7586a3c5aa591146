package org.gramian.demo;

import java.awt.image.BufferedImage;
import java.util.SplittableRandom;

/**
 * One image: a pattern in a scene.
 *
 * @param pattern what is seen
 * @param scene how it is seen
 * @param grain of the noise
 */
record TextureImage(Pattern pattern, Scene scene, SplittableRandom grain) {
    /** An image of a class, of its own random numbers. */
    static TextureImage random(TextureKind kind, SplittableRandom random) {
        return new TextureImage(kind.pattern(random.split()), Scene.random(random.split()), random.split());
    }

    /** Draws it: the pattern, blurred, in its colours and light, under noise. */
    BufferedImage draw(int side) {
        double[] heights = blurred(heights(side), side);
        BufferedImage image = new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB);
        for (int row = 0; row < side; row++) {
            for (int column = 0; column < side; column++) {
                double light = scene.light().at((double) column / side, (double) row / side);
                image.setRGB(column, row, colour(heights[row * side + column], light));
            }
        }
        return image;
    }

    private double[] heights(int side) {
        double[] heights = new double[side * side];
        for (int row = 0; row < side; row++) {
            for (int column = 0; column < side; column++) {
                heights[row * side + column] = scene.view().of(pattern, column, row);
            }
        }
        return heights;
    }

    private int colour(double height, double light) {
        int rgb = 0;
        for (int channel = 0; channel < 3; channel++) {
            double value = scene.ink().at(channel, height);
            rgb = rgb << 8 | (int) Math.clamp(value * light + scene.noise() * bell(), 0.0, 255.0);
        }
        return rgb;
    }

    /** Nearly normal, of variance 1: the sum of three even numbers, without the logarithms of the usual way. */
    private double bell() {
        return 2 * (grain.nextDouble() + grain.nextDouble() + grain.nextDouble()) - 3;
    }

    /** By a Gaussian along rows, then along columns; beyond an edge the edge goes on. */
    private double[] blurred(double[] heights, int side) {
        double[] weights = weights();
        return turned(turned(heights, side, weights), side, weights);
    }

    /** Blurs along rows and swaps rows and columns. */
    private static double[] turned(double[] heights, int side, double[] weights) {
        int reach = weights.length / 2;
        double[] result = new double[heights.length];
        for (int row = 0; row < side; row++) {
            for (int column = 0; column < side; column++) {
                double sum = 0;
                for (int i = 0; i < weights.length; i++) {
                    int place = Math.clamp(column + i - reach, 0, side - 1);
                    sum += weights[i] * heights[row * side + place];
                }
                result[column * side + row] = sum;
            }
        }
        return result;
    }

    private double[] weights() {
        int reach = (int) Math.ceil(2.5 * scene.blur());
        double[] weights = new double[2 * reach + 1];
        double sum = 0;
        for (int i = 0; i < weights.length; i++) {
            double distance = (i - reach) / scene.blur();
            weights[i] = StrictMath.exp(-distance * distance / 2);
            sum += weights[i];
        }
        for (int i = 0; i < weights.length; i++) {
            weights[i] /= sum;
        }
        return weights;
    }
}
