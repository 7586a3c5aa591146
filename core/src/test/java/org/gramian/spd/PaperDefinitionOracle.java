package org.gramian.spd;

import java.util.function.ToDoubleBiFunction;

/**
 * The paper's definitions as they are written: element by element, in loops over plain Java doubles, for one image.
 *
 * <p>Maps are rows {@code [C][N]}. Slow and obvious on purpose: what the matrix forms are compared with.
 */
final class PaperDefinitionOracle {
    private PaperDefinitionOracle() {}

    static double inner(double[] f, double[] g) {
        double sum = 0;
        for (int k = 0; k < f.length; k++) {
            sum += f[k] * g[k];
        }
        return sum;
    }

    static double distance(double[] f, double[] g) {
        double sum = 0;
        for (int k = 0; k < f.length; k++) {
            sum += (f[k] - g[k]) * (f[k] - g[k]);
        }
        return Math.sqrt(sum);
    }

    /** Mean over the C(C−1) ordered pairs of different maps. */
    static double meanDistance(double[][] maps) {
        double sum = 0;
        for (int i = 0; i < maps.length; i++) {
            for (int j = 0; j < maps.length; j++) {
                sum += i == j ? 0 : distance(maps[i], maps[j]);
            }
        }
        return sum / (maps.length * (maps.length - 1.0));
    }

    /** {@code K_ij = k(f_i, f_j)}. */
    static double[][] kernel(double[][] maps, ToDoubleBiFunction<double[], double[]> k) {
        double[][] matrix = new double[maps.length][maps.length];
        for (int i = 0; i < maps.length; i++) {
            for (int j = 0; j < maps.length; j++) {
                matrix[i][j] = k.applyAsDouble(maps[i], maps[j]);
            }
        }
        return matrix;
    }

    static double[][] rbf(double[][] maps, double sigma) {
        return kernel(maps, (f, g) -> Math.exp(-Math.pow(distance(f, g), 2) / (2 * sigma * sigma)));
    }

    static double[][] laplacian(double[][] maps, double sigma) {
        return kernel(maps, (f, g) -> Math.exp(-distance(f, g) / sigma));
    }

    static double[][] polynomial(double[][] maps, int degree, double scale, double offset) {
        return kernel(maps, (f, g) -> Math.pow(scale * inner(f, g) + offset, degree));
    }

    static double[][] bilinear(double[][] maps) {
        return kernel(maps, (f, g) -> inner(f, g) / f.length);
    }

    static double[][] covariance(double[][] maps) {
        return kernel(maps, (f, g) -> {
            double meanF = mean(f);
            double meanG = mean(g);
            double sum = 0;
            for (int k = 0; k < f.length; k++) {
                sum += (f[k] - meanF) * (g[k] - meanG);
            }
            return sum / (f.length - 1);
        });
    }

    /** {@code (1−a)Σ + a·tr(Σ)/C·I}. */
    static double[][] shrunk(double[][] covariance, double a) {
        int size = covariance.length;
        double trace = 0;
        for (int i = 0; i < size; i++) {
            trace += covariance[i][i];
        }
        double[][] shrunk = new double[size][size];
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                shrunk[i][j] = (1 - a) * covariance[i][j] + (i == j ? a * trace / size : 0);
            }
        }
        return shrunk;
    }

    /** {@code [[Σ + μμᵀ, μ], [μᵀ, 1]]}, Σ with denominator N. */
    static double[][] gaussian(double[][] maps) {
        int size = maps.length;
        double positions = maps[0].length;
        double[][] covariance = covariance(maps);
        double[][] k = new double[size + 1][size + 1];
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                k[i][j] = covariance[i][j] * (positions - 1) / positions + mean(maps[i]) * mean(maps[j]);
            }
            k[i][size] = mean(maps[i]);
            k[size][i] = mean(maps[i]);
        }
        k[size][size] = 1;
        return k;
    }

    private static double mean(double[] f) {
        double sum = 0;
        for (double x : f) {
            sum += x;
        }
        return sum / f.length;
    }

    /** {@code K + εI}. */
    static double[][] withJitter(double[][] k, double jitter) {
        double[][] y = new double[k.length][];
        for (int i = 0; i < k.length; i++) {
            y[i] = k[i].clone();
            y[i][i] += jitter;
        }
        return y;
    }

    /** {@code dL/df_i = Σ_j 2(P_ij + P_ji)(f_i − f_j)} for {@code P = dL/dD}, D the squared distances. */
    static double[][] gradientThroughDistances(double[][] maps, double[][] p) {
        double[][] gradient = new double[maps.length][maps[0].length];
        for (int i = 0; i < maps.length; i++) {
            for (int j = 0; j < maps.length; j++) {
                for (int k = 0; k < maps[i].length; k++) {
                    gradient[i][k] += 2 * (p[i][j] + p[j][i]) * (maps[i][k] - maps[j][k]);
                }
            }
        }
        return gradient;
    }

    /** The gradient of the Gaussian kernel through σ, the mean distance; pairs at distance 0 add nothing to dσ. */
    static double[][] rbfMeanFullGradient(double[][] maps, double[][] g) {
        double sigma = meanDistance(maps);
        double[][] k = rbf(maps, sigma);
        double ofSigma = 0;
        for (int i = 0; i < k.length; i++) {
            for (int j = 0; j < k.length; j++) {
                ofSigma += g[i][j] * k[i][j] * Math.pow(distance(maps[i], maps[j]), 2) / Math.pow(sigma, 3);
            }
        }
        double pairs = maps.length * (maps.length - 1.0);
        double[][] p = new double[k.length][k.length];
        for (int i = 0; i < k.length; i++) {
            for (int j = 0; j < k.length; j++) {
                double d = distance(maps[i], maps[j]);
                double ofPair = d == 0 ? 0 : ofSigma / (2 * d * pairs);
                p[i][j] = -g[i][j] * k[i][j] / (2 * sigma * sigma) + ofPair;
            }
        }
        return gradientThroughDistances(maps, p);
    }

    /** The gradient of the Laplacian kernel; pairs at distance 0 add nothing. */
    static double[][] laplacianGradient(double[][] maps, double[][] g, double sigma) {
        double[][] k = laplacian(maps, sigma);
        double[][] p = new double[k.length][k.length];
        for (int i = 0; i < k.length; i++) {
            for (int j = 0; j < k.length; j++) {
                double d = distance(maps[i], maps[j]);
                p[i][j] = d == 0 ? 0 : -g[i][j] * k[i][j] / (2 * sigma * d);
            }
        }
        return gradientThroughDistances(maps, p);
    }
}
