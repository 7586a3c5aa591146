package org.gramian.inspect;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Spectra of the symmetric matrices after one stage of a pooling, over several images.
 *
 * @param stage in the words of {@link org.gramian.pooling.Pooling#trace}, as {@code kernel rbf} and {@code transform 1, spd:128}
 * @param effectiveRank {@code exp(−Σ pᵢ·log pᵢ)} with {@code pᵢ = |λᵢ|/Σ|λⱼ|}, from 1 to {@code size} (Roy and Vetterli, The Effective
 *     Rank, 2007)
 * @param condition {@code max|λᵢ| / min|λᵢ|}, at most {@link #worstCondition}, the limit of float32
 * @param indefinite share of the matrices with an eigenvalue below 0, beyond rounding
 */
public record MatrixStage(
        String stage,
        int size,
        int images,
        List<QuantileRange> eigenvalues,
        QuantileRange effectiveRank,
        QuantileRange condition,
        double indefinite) {
    public MatrixStage {
        eigenvalues = List.copyOf(eigenvalues);
        if (eigenvalues.size() != size) {
            throw new IllegalArgumentException(
                    "expected " + size + " eigenvalues of " + stage + ", found " + eigenvalues.size());
        }
    }

    /** @param spectra the eigenvalues of each matrix, descending */
    static MatrixStage of(String stage, List<double[]> spectra) {
        int size = spectra.getFirst().length;
        return new MatrixStage(
                stage,
                size,
                spectra.size(),
                IntStream.range(0, size)
                        .mapToObj(k -> QuantileRange.of(spectra, one -> one[k]))
                        .toList(),
                QuantileRange.of(spectra, MatrixStage::effectiveRank),
                QuantileRange.of(spectra, MatrixStage::condition),
                spectra.stream().filter(MatrixStage::isIndefinite).count() / (double) spectra.size());
    }

    /** Returns the effective rank; 1 for a zero matrix. */
    static double effectiveRank(double[] spectrum) {
        double sum = Arrays.stream(spectrum).map(Math::abs).sum();
        double entropy = Arrays.stream(spectrum)
                .map(x -> Math.abs(x) / sum)
                .filter(p -> p > 0)
                .map(p -> -p * Math.log(p))
                .sum();
        return Math.exp(entropy);
    }

    /**
     * Returns the largest condition number that differs from infinity, {@code 2²⁴/√n}: entries are rounded to single precision, which
     * moves an eigenvalue by up to {@code 2⁻²⁴‖A‖_F ≤ 2⁻²⁴√n·max|λᵢ|} (Weyl).
     */
    public double worstCondition() {
        return worstCondition(size);
    }

    private static double worstCondition(int size) {
        return 0x1p24 / Math.sqrt(size);
    }

    static double condition(double[] spectrum) {
        double largest = Arrays.stream(spectrum).map(Math::abs).max().orElse(0);
        double smallest = Arrays.stream(spectrum).map(Math::abs).min().orElse(0);
        double worst = worstCondition(spectrum.length);
        return largest == 0 ? worst : Math.min(worst, largest / smallest);
    }

    /** Ignores negative eigenvalues below the rounding of float32. */
    private static boolean isIndefinite(double[] spectrum) {
        double largest = Arrays.stream(spectrum).map(Math::abs).max().orElse(0);
        return spectrum[spectrum.length - 1] < -0x1p-23 * spectrum.length * largest;
    }

    /** Quantiles of a number over images. */
    public record QuantileRange(double low, double median, double high) {
        /** Computes the quantiles of a number of at least one spectrum, with linear interpolation. */
        private static QuantileRange of(List<double[]> spectra, ToDoubleFunction<double[]> number) {
            double[] sorted = spectra.stream().mapToDouble(number).sorted().toArray();
            return new QuantileRange(quantile(sorted, 0.1), quantile(sorted, 0.5), quantile(sorted, 0.9));
        }

        private static double quantile(double[] sorted, double share) {
            double place = share * (sorted.length - 1);
            int before = (int) place;
            int after = Math.min(before + 1, sorted.length - 1);
            return sorted[before] + (place - before) * (sorted[after] - sorted[before]);
        }
    }
}
