package org.gramian.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.assertj.core.data.Offset;
import org.gramian.cluster.GaussianMixture.Gaussians;
import org.gramian.cluster.GaussianMixture.Mixture;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class GaussianMixtureTest {
    @RandomTest(times = 5)
    void recoversAPlantedMixture(Seed seed) {
        double[][] means = {{0, 0, 5}, {4, -3, 0}, {-4, 2, 1}};
        double[][] deviations = {{1, 0.5, 0.8}, {0.3, 1.2, 0.6}, {0.9, 0.4, 1.1}};
        int[] counts = {3000, 1500, 500};
        SplittableRandom random = seed.random();
        Tensor rows = new Blobs(means, deviations, counts).draw(random);
        Mixture found = new GaussianMixture(3, 300, 1e-10).fit(rows, random);
        for (int k = 0; k < 3; k++) {
            int place = nearest(found.means().toDoubles(), means[k]);
            double error = 5 / Math.sqrt(counts[k]); // five standard errors
            assertThat(found.weights().toDoubles()[place]).isCloseTo(counts[k] / 5000.0, Offset.offset(0.01));
            for (int j = 0; j < 3; j++) {
                double sigma = deviations[k][j];
                assertThat(found.means().toDoubles()[3 * place + j])
                        .isCloseTo(means[k][j], Offset.offset(error * sigma));
                assertThat(found.deviations().toDoubles()[3 * place + j])
                        .isCloseTo(sigma, Offset.offset(error * sigma));
            }
        }
    }

    private static int nearest(double[] found, double[] mean) {
        int best = 0;
        double smallest = Double.POSITIVE_INFINITY;
        for (int k = 0; k < found.length / mean.length; k++) {
            double square = 0;
            for (int j = 0; j < mean.length; j++) {
                square += Math.pow(found[k * mean.length + j] - mean[j], 2);
            }
            best = square < smallest ? k : best;
            smallest = Math.min(smallest, square);
        }
        return best;
    }

    @RandomTest
    void likelihoodNeverFalls(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor rows = Tensors.gaussian(random, Shape.of(60 + random.nextInt(200), 1 + random.nextInt(6)), DType.F64);
        Mixture found = new GaussianMixture(2 + random.nextInt(6), 60, 0).fit(rows, random);
        assertNeverFalls(found);
        assertThat(found.logLikelihoods()).hasSizeGreaterThan(2);
        assertThat(found.weights().sum().item()).isCloseTo(1, Offset.offset(1e-12));
    }

    private static void assertNeverFalls(Mixture found) {
        List<Double> all = found.logLikelihoods();
        for (int i = 1; i < all.size(); i++) {
            if (!found.reseeded().contains(i)) {
                assertThat(all.get(i)).isGreaterThanOrEqualTo(all.get(i - 1) - 1e-10 * (1 + Math.abs(all.get(i))));
            }
        }
    }

    @RandomTest(times = 5)
    void likelihoodMatchesTheDefinition(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor rows = Tensors.gaussian(random, Shape.of(40, 3), DType.F64).mul(3);
        Mixture found = GaussianMixture.of(3).fit(rows, random);
        double[] x = rows.toDoubles();
        double[] w = found.weights().toDoubles();
        double[] m = found.means().toDoubles();
        double[] s = found.deviations().toDoubles();
        double sum = 0;
        for (int i = 0; i < 40; i++) {
            double density = 0;
            for (int k = 0; k < 3; k++) {
                double one = w[k];
                for (int j = 0; j < 3; j++) {
                    double z = (x[3 * i + j] - m[3 * k + j]) / s[3 * k + j];
                    one *= Math.exp(-z * z / 2) / (s[3 * k + j] * Math.sqrt(2 * Math.PI));
                }
                density += one;
            }
            sum += Math.log(density);
        }
        assertThat(found.logLikelihoods().getLast()).isCloseTo(sum / 40, Offset.offset(1e-9));
    }

    @RandomTest(times = 5)
    void fitIsEquivariantToShiftAndScale(Seed seed) {
        Tensor rows = seed.gaussian(150, 3);
        Tensor shift = Tensors.of(new double[] {1000, -50, 3}, Shape.of(1, 3), DType.F64);
        Mixture here = GaussianMixture.of(3).fit(rows, seed.random());
        Mixture there = GaussianMixture.of(3).fit(rows.add(shift), seed.random());
        assertTensor(there.weights()).isCloseTo(here.weights(), 1e-6);
        assertTensor(there.means().sub(shift)).isCloseTo(here.means(), 1e-6);
        Mixture small = GaussianMixture.of(3).fit(rows.mul(1e-4), seed.random());
        assertTensor(small.deviations().mul(1e4)).isCloseTo(here.deviations(), 1e-6);
        assertThat(small.logLikelihoods().getLast())
                .isCloseTo(here.logLikelihoods().getLast() + 3 * Math.log(1e4), Offset.offset(1e-6));
    }

    @RandomTest(times = 5)
    void duplicatesConstantColumnsAndOutliersStayFinite(Seed seed) {
        for (DType type : new DType[] {DType.F64, DType.F32}) {
            Tensor few = seed.gaussian(12, 3).to(type);
            Tensor rows = few.unsqueeze(0).expand(5, 12, 3).reshape(60, 3);
            rows.slice(1, 1, 2).fill(7);
            rows.slice(0, 0, 1).slice(1, 0, 1).fill(1e3);
            Mixture found = GaussianMixture.of(4).fit(rows, seed.random());
            assertThat(found.means().allFinite()).isTrue();
            assertThat(Arrays.stream(found.deviations().toDoubles()))
                    .allSatisfy(sigma -> assertThat(sigma).isPositive().isFinite());
            assertThat(found.logLikelihoods())
                    .allSatisfy(likelihood -> assertThat(likelihood).isFinite());
        }
    }

    @RandomTest(times = 5)
    void emptyComponentsRestart(Seed seed) {
        SplittableRandom random = seed.random();
        ChunkedRows data = ChunkedRows.of("test", Blobs.separated(2, 2, 200).draw(random));
        Tensor means = Tensors.of(new double[] {0, 0, 0, 0.1, 1e4, 1e4}, Shape.of(3, 2), DType.F64);
        Gaussians start = new Gaussians(
                Tensors.of(new double[] {0.4, 0.3, 0.3}, Shape.of(3), DType.F64),
                means,
                Tensors.full(1, Shape.of(3, 2), DType.F64, means.device()));
        Mixture found = new GaussianMixture(3, 100, 0).refine(data, start, random);
        assertThat(found.reseeded()).isNotEmpty();
        assertThat(Arrays.stream(found.weights().toDoubles()))
                .allSatisfy(weight -> assertThat(weight).isGreaterThan(0.003));
        assertThat(found.means().largestMagnitude()).isLessThan(20);
        assertThat(found.weights().sum().item()).isCloseTo(1, Offset.offset(1e-12));
        assertNeverFalls(found);
    }

    @Test
    void rejectsTooFewRows() {
        Tensor rows = Tensors.gaussian(new SplittableRandom(1), Shape.of(3, 2), DType.F64);
        assertThatThrownBy(() -> GaussianMixture.of(4).fit(rows, new SplittableRandom(2)))
                .has(facts("rows", "3"));
        assertThatThrownBy(() -> new GaussianMixture(0, 1, 0)).has(facts("1", "component"));
        assertThatThrownBy(() -> new GaussianMixture(1, 1, Double.NaN)).hasMessageContaining("tolerance");
    }
}
