package org.gramian.spd;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.spd.Kernel.Bilinear;
import org.gramian.spd.Kernel.Covariance;
import org.gramian.spd.Kernel.Gaussian;
import org.gramian.spd.Kernel.Laplacian;
import org.gramian.spd.Kernel.Polynomial;
import org.gramian.spd.Rbf.Backward;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * A kernel beside its definition.
 *
 * @param name as in the text form
 * @param kernel what is tested
 * @param definition the same by {@link PaperDefinitionOracle}, for one image
 * @param smoothAtEqualMaps whether it has a derivative where two maps are equal
 */
record KernelUnderTest(String name, Kernel kernel, UnaryOperator<double[][]> definition, boolean smoothAtEqualMaps) {
    static final double JITTER = 0.125;
    static final double ESTIMATED = 2.25;
    static final double LEARNED = 1.75;

    private static KernelUnderTest of(
            String name, Kernel kernel, UnaryOperator<double[][]> definition, boolean smoothAtEqualMaps) {
        return new KernelUnderTest(
                name,
                kernel,
                maps -> PaperDefinitionOracle.withJitter(definition.apply(maps), JITTER),
                smoothAtEqualMaps);
    }

    private static KernelUnderTest rbf(Sigma sigma, UnaryOperator<double[][]> definition) {
        return of("rbf " + sigma, new Rbf(sigma, JITTER), definition, !(sigma instanceof Sigma.MeanFull));
    }

    /** All maps equal, σ would be 0. */
    private static double[][] rbfOfMeanDistance(double[][] maps) {
        double mean = PaperDefinitionOracle.meanDistance(maps);
        return PaperDefinitionOracle.rbf(maps, Math.max(mean, Sigma.SMALLEST));
    }

    /** Every kernel with every way to choose σ. */
    static List<KernelUnderTest> all() {
        return List.of(
                rbf(new Sigma.Mean(), KernelUnderTest::rbfOfMeanDistance),
                rbf(new Sigma.MeanFull(), KernelUnderTest::rbfOfMeanDistance),
                rbf(new Sigma.Fixed(1.5), m -> PaperDefinitionOracle.rbf(m, 1.5)),
                rbf(new Sigma.Estimate(), m -> PaperDefinitionOracle.rbf(m, ESTIMATED)),
                rbf(new Sigma.Learned(), m -> PaperDefinitionOracle.rbf(m, LEARNED)),
                of("laplacian", new Laplacian(3, JITTER), m -> PaperDefinitionOracle.laplacian(m, 3), false),
                of(
                        "polynomial of degree 1",
                        new Polynomial(1, 2, 0, JITTER),
                        m -> PaperDefinitionOracle.polynomial(m, 1, 2, 0),
                        true),
                of(
                        "polynomial of degree 3",
                        new Polynomial(3, 0.25, 1, JITTER),
                        m -> PaperDefinitionOracle.polynomial(m, 3, 0.25, 1),
                        true),
                of("covariance", new Covariance(JITTER, 0), PaperDefinitionOracle::covariance, true),
                of(
                        "shrunk covariance",
                        new Covariance(JITTER, 0.3),
                        m -> PaperDefinitionOracle.shrunk(PaperDefinitionOracle.covariance(m), 0.3),
                        true),
                of("gaussian", new Gaussian(JITTER), PaperDefinitionOracle::gaussian, true),
                of("democratic", new Democratic(0.3, 10, JITTER), m -> democratic(m, 0.3, 10), true),
                of("bilinear", new Bilinear(JITTER), PaperDefinitionOracle::bilinear, true));
    }

    /** The Sinkhorn iteration with the matrix of positions. */
    private static double[][] democratic(double[][] maps, double gamma, int iterations) {
        int positions = maps[0].length;
        double[][] q = new double[positions][positions];
        double sum = Democratic.SMALLEST_MEAN * positions * positions;
        for (int a = 0; a < positions; a++) {
            for (int b = 0; b < positions; b++) {
                for (double[] map : maps) {
                    q[a][b] += map[a] * map[b];
                }
                q[a][b] *= q[a][b];
                sum += q[a][b];
            }
        }
        double[] weights = new double[positions];
        Arrays.fill(weights, 1);
        double[] target = new double[positions];
        for (int i = 0; i <= iterations; i++) {
            double[] influence = new double[positions];
            for (int a = 0; a < positions; a++) {
                for (int b = 0; b < positions; b++) {
                    double entry = q[a][b] * positions / sum + (a == b ? Democratic.MARGIN : 0);
                    influence[a] += weights[a] * entry * weights[b];
                }
                target[a] = i == 0 ? Math.pow(influence[a], gamma) : target[a];
            }
            for (int a = 0; i < iterations && a < positions; a++) {
                weights[a] *= Math.sqrt(target[a] / influence[a]);
            }
        }
        double[][] k = new double[maps.length][maps.length];
        for (int i = 0; i < maps.length; i++) {
            for (int j = 0; j < maps.length; j++) {
                for (int a = 0; a < positions; a++) {
                    k[i][j] += weights[a] * maps[i][a] * maps[j][a] / positions;
                }
            }
        }
        return k;
    }

    boolean isLearned() {
        return kernel instanceof Rbf(Sigma.Learned _, double _, Backward _);
    }

    /** Whether σ is the mean distance, taken for a constant on the way back. */
    boolean holdsMean() {
        return kernel instanceof Rbf(Sigma.Mean _, double _, Backward _);
    }

    /** {@code log σ} of {@link #LEARNED}. */
    static Tensor logSigma(DType type) {
        return Tensors.of(new double[] {Math.log(LEARNED)}, Shape.of(1), type);
    }

    /** The kernel of the first variable; the second, where there is one, is {@code log σ}. */
    Var apply(List<Var> inputs) {
        Var maps = inputs.getFirst();
        Tape tape = maps.tape();
        DType type = maps.value().type();
        Var learned = inputs.size() > 1 ? inputs.get(1) : tape.constant(logSigma(type));
        Var estimated = tape.constant(Tensors.of(new double[] {ESTIMATED}, Shape.of(1), type));
        return kernel.apply(maps, Bindings.of(Map.of("logSigma", learned, "sigma", estimated)));
    }

    @Override
    public String toString() {
        return name;
    }
}
