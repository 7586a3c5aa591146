package org.gramian.backbone;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleBinaryOperator;

/**
 * The numbers of the fixed filter bank, on windows of 11×11 with {@code x, y ∈ {−5, …, 5}} and {@code r² = x² + y²}.
 *
 * <ul>
 *   <li>Gabor at orientation θ, with {@code u = x·cos θ + y·sin θ}, λ = 5, σ = 2.2: even {@code exp(−r²/2σ²)·(cos(2πu/λ) −
 *       m)}, where m makes the sum 0, and odd {@code exp(−r²/2σ²)·sin(2πu/λ)} (Daugman, 1985). σ is about λ/2: a band of
 *       one octave, so that the levels of a pyramid touch. λ is no multiple of the stride 2: a grating is met at all
 *       phases.
 *   <li>Derivatives of a Gaussian, σ = 1.5: {@code x·exp(−r²/2σ²)}, {@code y·exp(−r²/2σ²)}, and the Laplacian {@code (r²/σ²
 *       − 2 − m)·exp(−r²/2σ²)} of sum 0.
 *   <li>Colours, orthonormal: luminance {@code (R+G+B)/√3}, red–green {@code (R−G)/√2}, yellow–blue {@code (R+G−2B)/√6}.
 * </ul>
 *
 * <p>Each filter is a colour times a window, scaled to unit length.
 */
final class FilterFormulas {
    static final int SIZE = 11;
    static final int ORIENTATIONS = 6;

    /** Luminance, red–green, yellow–blue; rows of R, G, B. */
    static final List<double[]> COLOURS = List.of(unit(1, 1, 1), unit(1, -1, 0), unit(1, 1, -2));

    /** How many {@link #bank} makes: pairs of Gabors, a Laplacian, and three derivatives of either opponent colour. */
    static final int FILTERS = 2 * ORIENTATIONS + 1 + 3 * 2;

    private static final double WAVELENGTH = 5;
    private static final double GABOR_SIGMA = 2.2;
    private static final double DERIVATIVE_SIGMA = 1.5;
    private static final double[] BINOMIAL = {1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0};

    private FilterFormulas() {}

    /** All filters: even and odd Gabors and a Laplacian of luminance, then three derivatives of each opponent colour. */
    static List<double[]> bank() {
        List<double[]> filters = new ArrayList<>();
        for (int k = 0; k < ORIENTATIONS; k++) {
            double angle = Math.PI * k / ORIENTATIONS;
            double along = 2 * Math.PI * Math.cos(angle) / WAVELENGTH;
            double across = 2 * Math.PI * Math.sin(angle) / WAVELENGTH;
            filters.add(filter(0, GABOR_SIGMA, (x, y) -> Math.cos(along * x + across * y)));
            filters.add(filter(0, GABOR_SIGMA, (x, y) -> Math.sin(along * x + across * y)));
        }
        filters.add(filter(0, DERIVATIVE_SIGMA, FilterFormulas::laplacian));
        for (int colour = 1; colour < COLOURS.size(); colour++) {
            filters.add(filter(colour, DERIVATIVE_SIGMA, (x, y) -> x));
            filters.add(filter(colour, DERIVATIVE_SIGMA, (x, y) -> y));
            filters.add(filter(colour, DERIVATIVE_SIGMA, FilterFormulas::laplacian));
        }
        return filters;
    }

    /** The smoothing before every second row and column is taken: 1, 4, 6, 4, 1 in both directions, of sum 1. */
    static double[] smoothing() {
        double[] window = new double[BINOMIAL.length * BINOMIAL.length];
        for (int i = 0; i < window.length; i++) {
            window[i] = BINOMIAL[i / BINOMIAL.length] * BINOMIAL[i % BINOMIAL.length];
        }
        return window;
    }

    private static double laplacian(double x, double y) {
        return (x * x + y * y) / (DERIVATIVE_SIGMA * DERIVATIVE_SIGMA) - 2;
    }

    /** A Gaussian window times a function less its weighted mean, in one colour: {@code [3, 11, 11]} of unit length. */
    private static double[] filter(int colour, double sigma, DoubleBinaryOperator function) {
        int centre = SIZE / 2;
        double[] window = new double[SIZE * SIZE];
        double[] values = new double[SIZE * SIZE];
        double total = 0;
        double mean = 0;
        for (int i = 0; i < window.length; i++) {
            double y = i / SIZE - centre;
            double x = i % SIZE - centre;
            window[i] = Math.exp(-(x * x + y * y) / (2 * sigma * sigma));
            values[i] = function.applyAsDouble(x, y);
            total += window[i];
            mean += window[i] * values[i];
        }
        double[] filter = new double[Network.COLOURS * window.length];
        for (int i = 0; i < filter.length; i++) {
            int place = i % window.length;
            filter[i] = COLOURS.get(colour)[i / window.length] * window[place] * (values[place] - mean / total);
        }
        return unit(filter);
    }

    private static double[] unit(double... values) {
        double length = Math.sqrt(Arrays.stream(values).map(v -> v * v).sum());
        return Arrays.stream(values).map(v -> v / length).toArray();
    }
}
