package org.gramian.backbone.network;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleBinaryOperator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.backbone.network.ConvolutionKernel.Border;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensors;

/**
 * Fixed bank of oriented filters over three octaves, which needs no weights: images {@code [n, 3, h, w]} to feature
 * maps {@code [n, 120, ⌈h/8⌉, ⌈w/8⌉]}.
 *
 * <p>The image is smoothed and halved into a pyramid (Burt and Adelson, 1983). Each of its first three levels is
 * convolved at stride 2 with the 19 filters of {@link Formulas}. A response r becomes two maps, {@code max(r, 0)} and
 * {@code max(−r, 0)}, averaged over windows of 4, 2 and 1 so that all levels have one size. The fourth level gives the
 * plain colours, rectified in the same way: {@code 3·2·19 + 2·3} maps.
 *
 * <p>The filters are parameters of the role {@link Role#FITTED}: they are moved to any device and type and never
 * trained.
 */
public record FilterBank(String name) implements NetworkLayer {
    /** Number of filtered pyramid levels. */
    public static final int LEVELS = 3;

    /** Kernel of the filters, {@code bank.weight}. */
    public static final ConvolutionKernel BANK = new ConvolutionKernel(Formulas.SIZE, 2, Border.HALF, false);

    /** Kernel that halves a level, {@code halving.weight}. */
    public static final ConvolutionKernel HALVING = new ConvolutionKernel(5, 2, Border.HALF, true);

    /** Kernel of the plain colours, {@code colour.weight}. */
    public static final ConvolutionKernel POINT = new ConvolutionKernel(1, 1, Border.NONE, false);

    @Override
    public long channels(long entering) {
        return 2L * (LEVELS * Formulas.FILTERS + Formulas.COLOURS.size());
    }

    @Override
    public List<ParameterSpec> parameters(long entering) {
        double[] smoothing = Formulas.smoothing();
        return List.of(
                fixed("bank.weight", Formulas.bank(), BANK),
                fixed("halving.weight", List.of(smoothing, smoothing, smoothing), HALVING),
                fixed("colour.weight", Formulas.COLOURS, POINT));
    }

    private static ParameterSpec fixed(String name, List<double[]> filters, ConvolutionKernel kernel) {
        double[] values = filters.stream().flatMapToDouble(Arrays::stream).toArray();
        Shape wanted =
                Shape.of(filters.size(), kernel.depthwise() ? 1 : NetworkLayer.COLOURS, kernel.size(), kernel.size());
        return new ParameterSpec(name, wanted, Role.FITTED, (random, shape, type) -> Tensors.of(values, shape, type));
    }

    /** Returns the averaging window that brings the responses of a level to the size of the last. */
    public static Window averaging(int level) {
        int size = 1 << (LEVELS - 1 - level);
        return Window.of(size, size).roundedUp();
    }

    @Override
    public Shape output(Shape maps) {
        Shape responses = Shape.of(channels(maps.at(0)), BANK.windows(maps.at(1)), BANK.windows(maps.at(2)));
        return averaging(0).outputs(responses);
    }

    @Override
    public Var apply(Var images, Bindings parameters) {
        List<Var> parts = new ArrayList<>();
        Var level = images;
        for (int i = 0; i < LEVELS; i++) {
            Var responses = convolve(level, parameters.get("bank.weight"), BANK);
            parts.add(FeatureMaps.averagePool(responses.relu(), averaging(i)));
            parts.add(FeatureMaps.averagePool(responses.mul(-1).relu(), averaging(i)));
            level = convolve(level, parameters.get("halving.weight"), HALVING);
        }
        Var colours = convolve(level, parameters.get("colour.weight"), POINT);
        parts.add(colours.relu());
        parts.add(colours.mul(-1).relu());
        return Var.concat(parts, 1);
    }

    private static Var convolve(Var maps, Var weight, ConvolutionKernel kernel) {
        return FeatureMaps.convolve(
                maps, weight, null, kernel.convolution(maps.shape().at(1)));
    }

    /**
     * Filters of the bank, on windows of 11×11 with {@code x, y ∈ {−5, …, 5}} and {@code r² = x² + y²}.
     *
     * <ul>
     *   <li>Gabor filters at orientation θ, with {@code u = x·cos θ + y·sin θ}, λ = 5, σ = 2.2: even {@code
     *       exp(−r²/2σ²)·(cos(2πu/λ) − m)}, where m makes the sum 0, and odd {@code exp(−r²/2σ²)·sin(2πu/λ)} (Daugman,
     *       1985). σ is about λ/2, a bandwidth of one octave, so that adjacent pyramid levels touch. λ is not a
     * multiple of
     *       the stride 2, so that a grating is sampled at all phases.
     *   <li>Derivatives of a Gaussian, σ = 1.5: {@code x·exp(−r²/2σ²)}, {@code y·exp(−r²/2σ²)}, and the Laplacian
     * {@code
     *       (r²/σ² − 2 − m)·exp(−r²/2σ²)} with sum 0.
     *   <li>Orthonormal colours: luminance {@code (R+G+B)/√3}, red–green {@code (R−G)/√2}, yellow–blue {@code
     *       (R+G−2B)/√6}.
     * </ul>
     *
     * <p>Each filter is a colour times a window, scaled to unit norm.
     */
    public static final class Formulas {
        static final int SIZE = 11;
        public static final int ORIENTATIONS = 6;

        /** Luminance, red–green, yellow–blue; rows of R, G, B. */
        static final List<double[]> COLOURS = List.of(unit(1, 1, 1), unit(1, -1, 0), unit(1, 1, -2));

        /**
         * Number of filters of {@link #bank}: pairs of Gabor filters, a Laplacian, and three derivatives of each
         * opponent colour.
         */
        public static final int FILTERS = 2 * ORIENTATIONS + 1 + 3 * 2;

        private static final double WAVELENGTH = 5;
        private static final double GABOR_SIGMA = 2.2;
        private static final double DERIVATIVE_SIGMA = 1.5;
        private static final double[] BINOMIAL = {1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0};

        /** Returns all filters: Gabor filters and a Laplacian of luminance, then three derivatives of each opponent colour. */
        public static List<double[]> bank() {
            List<double[]> filters = new ArrayList<>();
            for (int k = 0; k < ORIENTATIONS; k++) {
                double angle = Math.PI * k / ORIENTATIONS;
                double along = 2 * Math.PI * Math.cos(angle) / WAVELENGTH;
                double across = 2 * Math.PI * Math.sin(angle) / WAVELENGTH;
                filters.add(filter(0, GABOR_SIGMA, (x, y) -> Math.cos(along * x + across * y)));
                filters.add(filter(0, GABOR_SIGMA, (x, y) -> Math.sin(along * x + across * y)));
            }
            filters.add(filter(0, DERIVATIVE_SIGMA, Formulas::laplacian));
            for (int colour = 1; colour < COLOURS.size(); colour++) {
                filters.add(filter(colour, DERIVATIVE_SIGMA, (x, y) -> x));
                filters.add(filter(colour, DERIVATIVE_SIGMA, (x, y) -> y));
                filters.add(filter(colour, DERIVATIVE_SIGMA, Formulas::laplacian));
            }
            return filters;
        }

        /** Returns the binomial smoothing filter before subsampling, 1, 4, 6, 4, 1 in both directions with sum 1. */
        public static double[] smoothing() {
            double[] window = new double[BINOMIAL.length * BINOMIAL.length];
            for (int i = 0; i < window.length; i++) {
                window[i] = BINOMIAL[i / BINOMIAL.length] * BINOMIAL[i % BINOMIAL.length];
            }
            return window;
        }

        private static double laplacian(double x, double y) {
            return (x * x + y * y) / (DERIVATIVE_SIGMA * DERIVATIVE_SIGMA) - 2;
        }

        /** Computes a Gaussian window times a function minus its weighted mean, in one colour: {@code [3, 11, 11]} of unit norm. */
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
            double[] filter = new double[NetworkLayer.COLOURS * window.length];
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
}
