package org.gramian.anomaly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.linear.Whitening;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PatchModelTest {
    private static final int CHANNELS = 6;
    private static final int POSITIONS = 4;

    /** Returns correlated features {@code [p, d]} of n images. */
    private static List<Tensor> images(int n, SplittableRandom random) {
        Tensor mixing = Tensors.gaussian(random, Shape.of(CHANNELS, CHANNELS), DType.F32)
                .mulInPlace(0.15)
                .add(Tensors.identity(CHANNELS, DType.F32, Device.CPU));
        List<Tensor> images = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            images.add(Tensors.gaussian(random, Shape.of(POSITIONS, CHANNELS), DType.F32)
                    .matmul(mixing)
                    .add(3));
        }
        return images;
    }

    private static double largestDifference(Tensor a, Tensor b) {
        return a.sub(b).largestMagnitude();
    }

    private static Tensor covariance(Tensor rows) {
        Tensor centred = rows.sub(rows.sum(0).mulInPlace(1.0 / rows.size(0)));
        return centred.transpose().matmul(centred).mulInPlace(1.0 / rows.size(0));
    }

    @RandomTest(times = 8)
    void whitenedFeaturesHaveIdentityAsCovariance(Seed seed) {
        try (Scope _ = Scope.open()) {
            Tensor rows = Tensors.concat(images(4000, seed.random()), 0);
            Tensor whitened = Whitening.fit(List.of(rows)).apply(rows);
            Tensor identity = Tensors.identity(CHANNELS, DType.F32, rows.device());
            // 16,000 rows: the covariance is shrunk by less than a hundredth
            assertThat(largestDifference(covariance(whitened), identity)).isLessThan(0.05);
        }
    }

    @RandomTest(times = 8)
    void shrunkCovarianceOfTwoRowsIsPositiveDefinite(Seed seed) {
        try (Scope _ = Scope.open()) {
            Tensor rows = Tensors.gaussian(seed.random(), Shape.of(2, CHANNELS), DType.F32);
            Tensor whitened = Whitening.fit(List.of(rows)).apply(rows);
            assertThat(whitened.allFinite()).isTrue();
        }
    }

    @Test
    void shrinkageIsThatOfLedoitAndWolf() {
        try (Scope _ = Scope.open()) {
            // rows ±(2, 0) and ±(0, 1): S = diag(2, 1/2), m = 5/4, δ² = 9/16, Σ‖x‖⁴/n = 17/2, β² = (17/2 − 17/4)/8
            Tensor s = Tensors.of(new double[] {2, 0, 0, 0.5}, Shape.of(2, 2), DType.F64);
            double part = (8.5 - 4.25) / 8 / 0.5625;
            double[] found = Whitening.shrunk(s, 4, 8.5).toDoubles();
            assertThat(found[0]).isCloseTo((1 - part) * 2 + part * 1.25, within(1e-5));
            assertThat(found[3]).isCloseTo((1 - part) * 0.5 + part * 1.25, within(1e-5));
            assertThat(found[1]).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"GAUSSIAN", "NEIGHBOURS"})
    void distancesAreInvariantUnderRotation(PatchModel.Kind kind) {
        try (Scope _ = Scope.open()) {
            SplittableRandom random = new SplittableRandom(3);
            List<Tensor> images = images(200, random);
            Tensor rotation = Decompositions.orthonormalColumns(
                    Tensors.gaussian(random, Shape.of(CHANNELS, CHANNELS), DType.F32), true);
            List<Tensor> rotated =
                    images.stream().map(image -> image.matmul(rotation)).toList();
            Tensor probe = Tensors.gaussian(random, Shape.of(2, POSITIONS, CHANNELS), DType.F32);
            // 800 features: all of them are in the bank
            Tensor expected = kind.fit(images, 1).distances(probe);
            Tensor found = kind.fit(rotated, 1).distances(probe.matmul(rotation));
            assertThat(largestDifference(found, expected)).isLessThan(2e-3);
        }
    }

    @Test
    void neighboursOfFeatureInBankHaveDistanceZero() {
        try (Scope _ = Scope.open()) {
            List<Tensor> images = images(20, new SplittableRandom(5));
            Tensor distances = PatchModel.Kind.NEIGHBOURS
                    .fit(images, 1)
                    .distances(images.get(7).unsqueeze(0));
            assertThat(distances.largestMagnitude()).isLessThan(5e-3);
        }
    }

    @Test
    void farthestPointsBeginWithCornersOfSquare() {
        float[] points = {0, 0.1f, 1, 0, 1, 0, 0.1f, 0, 1, 1}; // (0,0) (0.1,0.1) (1,0) (0,1) (1,1)
        assertThat(PatchModel.Neighbours.farthest(points, 5, 4)).containsExactlyInAnyOrder(0, 2, 3, 4);
    }

    @RandomTest(times = 8)
    void distancesAtPositionsAreThoseOfInverseCovariance(Seed seed) {
        try (Scope _ = Scope.open()) {
            SplittableRandom random = seed.random();
            List<Tensor> images = images(40, random);
            var model = (PatchModel.Positions) PatchModel.Kind.POSITIONS.fit(images, 1);
            Tensor probe = Tensors.gaussian(random, Shape.of(1, POSITIONS, CHANNELS), DType.F32);
            double[] found = model.distances(probe).toDoubles();
            for (int p = 0; p < POSITIONS; p++) {
                // Σ⁻¹ = D⁻¹ − VVᵀ must be positive definite
                Tensor factor = model.factor()
                        .slice(0, p, p + 1L)
                        .reshape(CHANNELS, model.factor().size(2));
                Tensor precision = Tensors.identity(CHANNELS, DType.F32, probe.device())
                        .mul(model.precision().slice(0, p, p + 1L))
                        .sub(factor.matmul(factor.transpose()));
                assertThat(Decompositions.isPositiveDefinite(precision)).isTrue();
                Tensor x = probe.slice(1, p, p + 1L)
                        .reshape(1, CHANNELS)
                        .sub(model.mean().slice(0, p, p + 1L));
                double expected =
                        Math.sqrt(x.matmul(precision).matmul(x.transpose()).item());
                assertThat(found[p]).isCloseTo(expected, within(1e-3 * (1 + expected)));
            }
        }
    }

    @Test
    void covarianceAtPositionApproachesThatOfManyImages() {
        try (Scope _ = Scope.open()) {
            SplittableRandom random = new SplittableRandom(11);
            // rank 2 and noise: the factors and the diagonal describe it up to the tenth that all positions share
            Tensor axes = Tensors.gaussian(random, Shape.of(2, CHANNELS), DType.F32);
            List<Tensor> images = new ArrayList<>();
            for (int i = 0; i < 4000; i++) {
                Tensor along = Tensors.gaussian(random, Shape.of(POSITIONS, 2), DType.F32);
                Tensor noise = Tensors.gaussian(random, Shape.of(POSITIONS, CHANNELS), DType.F32);
                images.add(along.matmul(axes).add(noise.mul(0.3)));
            }
            Tensor fresh = images.get(0).unsqueeze(0);
            double[] distances = PatchModel.Kind.POSITIONS
                    .fit(images, 1)
                    .distances(Tensors.concat(
                            images.subList(0, 1000).stream()
                                    .map(image -> image.unsqueeze(0))
                                    .toList(),
                            0))
                    .toDoubles();
            double mean = 0;
            for (double distance : distances) {
                mean += distance * distance / distances.length;
            }
            assertThat(fresh.size(2)).isEqualTo(CHANNELS);
            // below the channels, since the shared tenth is added to every diagonal
            assertThat(mean).isBetween(0.4 * CHANNELS, 1.02 * CHANNELS);
        }
    }

    @ParameterizedTest
    @EnumSource
    void constantFeaturesHaveFiniteDistances(PatchModel.Kind kind) {
        try (Scope _ = Scope.open()) {
            Tensor constant = Tensors.full(2, Shape.of(POSITIONS, CHANNELS), DType.F32, Device.CPU);
            PatchModel model = kind.fit(List.of(constant, constant, constant, constant, constant), 1);
            assertThat(model.distances(constant.unsqueeze(0)).allFinite()).isTrue();
        }
    }
}
