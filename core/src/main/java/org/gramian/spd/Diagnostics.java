package org.gramian.spd;

import java.util.Arrays;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/** Diagnostics of feature maps and their matrices. */
public final class Diagnostics {
    private Diagnostics() {}

    /**
     * Channels that make matrices singular.
     *
     * @param channels number of channels
     * @param dead channels that are 0 everywhere in every image
     * @param duplicate channels, not dead, that equal an earlier one in every image
     */
    public record Channels(long channels, long dead, long duplicate) {}

    /**
     * Spectrum of a batch of symmetric matrices.
     *
     * @param smallest smallest eigenvalue
     * @param largest largest eigenvalue
     * @param condition largest condition number of a matrix, by magnitudes of eigenvalues
     */
    public record Spectrum(double smallest, double largest, double condition) {

        /** Returns whether all eigenvalues are positive. */
        public boolean isPositiveDefinite() {
            return smallest > 0;
        }
    }

    /** Counts dead and duplicate channels of maps {@code [n, C, N]}. */
    public static Channels channels(Tensor maps) {
        try (Scope _ = Scope.open()) {
            int count = Math.toIntExact(maps.size(1));
            double[] squares = maps.mul(maps).sum(0, 2).toDoubles();
            double[] distances = SquaredDistances.squaredOrZero(SquaredDistances.centred(maps))
                    .sum(0)
                    .toDoubles();
            long dead = Arrays.stream(squares).filter(s -> s == 0).count();
            long duplicate = 0;
            for (int i = 0; i < count; i++) {
                boolean found = false;
                for (int j = 0; j < i && !found; j++) {
                    found = squares[i] != 0 && distances[i * count + j] == 0;
                }
                duplicate += found ? 1 : 0;
            }
            return new Channels(count, dead, duplicate);
        }
    }

    /** Computes extreme eigenvalues and condition numbers of symmetric matrices {@code [n, C, C]} in float64. */
    public static Spectrum spectrum(Tensor matrices) {
        try (Scope _ = Scope.open()) {
            int size = Math.toIntExact(matrices.size(-1));
            Tensor exact = Decompositions.symmetric(matrices.to(DType.F64));
            double[] values = Decompositions.symmetricEigen(exact).values().toDoubles();
            double condition = 0;
            for (int start = 0; start < values.length; start += size) {
                double[] one = Arrays.stream(values, start, start + size)
                        .map(Math::abs)
                        .sorted()
                        .toArray();
                condition = Math.max(condition, one[size - 1] / one[0]);
            }
            return new Spectrum(
                    Arrays.stream(values).min().orElse(Double.NaN),
                    Arrays.stream(values).max().orElse(Double.NaN),
                    condition);
        }
    }
}
