package org.gramian.explain;

import java.util.Arrays;
import org.gramian.spd.Bilinear;
import org.gramian.spd.Covariance;
import org.gramian.spd.Gaussian;
import org.gramian.spd.Kernel;
import org.gramian.spd.Laplacian;
import org.gramian.spd.Polynomial;
import org.gramian.spd.Rbf;

/**
 * What an image adds to an entry {@code K_ij} of a kernel matrix, and where.
 *
 * <p>Every kernel is a function of a sum over positions, {@code K_ij = h(Σ_x q(x))}: of squared differences, {@code q = (f_i −
 * f_j)²}, for {@code rbf} and {@code laplacian}, of products {@code f_i f_j} for the others, less the means for {@code
 * covariance}. Without an image, all maps 0, the entry is {@code h(0)}: 1 where maps are compared by their difference. What the
 * image adds is {@code K_ij − h(0)}, and a position's share of it is in proportion to {@code q(x)}: that is the integrated
 * gradient of the entry over the way from no features to these (Sundararajan, Taly and Yan, 2017), since {@code q} is quadratic
 * in them; the width of {@code rbf} is held as it is.
 *
 * @param kind what is summed
 * @param nothing {@code h(0)}
 * @param jitter what the diagonal has beside it
 */
record EntryTerms(Kind kind, double nothing, double jitter) {
    enum Kind {
        DIFFERENCES,
        PRODUCTS,
        CENTRED_PRODUCTS
    }

    static EntryTerms of(Kernel kernel) {
        return switch (kernel) {
            case Rbf _, Laplacian _ -> new EntryTerms(Kind.DIFFERENCES, 1, kernel.jitter());
            case Polynomial p -> new EntryTerms(Kind.PRODUCTS, Math.pow(p.offset(), p.degree()), kernel.jitter());
            case Bilinear _, Gaussian _ -> new EntryTerms(Kind.PRODUCTS, 0, kernel.jitter());
            case Covariance _ -> new EntryTerms(Kind.CENTRED_PRODUCTS, 0, kernel.jitter());
        };
    }

    /** Whether the diagonal depends on the image: every map equals itself. */
    boolean onDiagonal() {
        return kind != Kind.DIFFERENCES;
    }

    /** The entry without an image. */
    double without(boolean diagonal) {
        return nothing + (diagonal ? jitter : 0);
    }

    /** {@code q} at every position, of two maps of one crop. */
    double[] of(double[] first, double[] second) {
        double a = mean(first);
        double b = mean(second);
        double[] terms = new double[first.length];
        for (int x = 0; x < terms.length; x++) {
            terms[x] = switch (kind) {
                case DIFFERENCES -> (first[x] - second[x]) * (first[x] - second[x]);
                case PRODUCTS -> first[x] * second[x];
                case CENTRED_PRODUCTS -> (first[x] - a) * (second[x] - b);
            };
        }
        return terms;
    }

    private static double mean(double[] values) {
        return Arrays.stream(values).average().orElse(0);
    }
}
