package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.spd.layer.Stiefel;
import org.gramian.spd.layer.Stiefel.Metric;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SingleThreaded.class)
@ExtendWith(Scoped.class)
class StiefelTest {
    static final List<Shape> SHAPES = List.of(Shape.of(7, 7), Shape.of(9, 4), Shape.of(6, 1), Shape.of(1, 1));

    @RandomTest(times = 8)
    void randomPointLiesOnManifold(Seed seed) {
        for (Shape shape : SHAPES) {
            try (Scope _ = Scope.open()) {
                Tensor exact = Stiefel.random(SampleMatrices.random(seed), shape, DType.F64);
                assertThat(Stiefel.orthogonalityError(exact))
                        .as("%s, %s", shape, seed)
                        .isLessThan(1e-14);
                Tensor single = Stiefel.random(SampleMatrices.random(seed), shape, DType.F32);
                assertThat(Stiefel.orthogonalityError(single))
                        .as("%s, %s", shape, seed)
                        .isLessThan(1e-6);
            }
        }
    }

    /** Without fixed signs the Householder Q of a Gaussian has a diagonal that leans to one side. */
    @Test
    void noSignOfRandomPointIsPreferred() {
        int points = 400;
        double[] positive = new double[6];
        RandomGenerator random = SampleMatrices.random(5);
        for (int k = 0; k < points; k++) {
            try (Scope _ = Scope.open()) {
                double[] w = Stiefel.random(random, Shape.of(3, 2), DType.F64).toDoubles();
                for (int i = 0; i < w.length; i++) {
                    positive[i] += w[i] > 0 ? 1.0 / points : 0;
                }
            }
        }
        for (double share : positive) {
            assertThat(share).isCloseTo(0.5, within(0.1)); // four standard deviations
        }
    }

    @RandomTest(times = 8)
    void bothGradientsAreTangent(Seed seed) {
        for (Shape shape : SHAPES) {
            for (Metric metric : Metric.values()) {
                try (Scope _ = Scope.open()) {
                    RandomGenerator random = SampleMatrices.random(seed);
                    Tensor w = Stiefel.random(random, shape, DType.F64);
                    Tensor f = SampleMatrices.gaussian(random, shape.sizes());
                    assertThat(distanceFromTangent(w, Stiefel.gradient(w, f, metric)))
                            .as("%s, %s, %s", metric, shape, seed)
                            .isLessThan(1e-13);
                }
            }
        }
    }

    @RandomTest(times = 8)
    void gradientsAreThoseOfTheirFormulas(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        Tensor w = Stiefel.random(random, Shape.of(6, 3), DType.F64);
        Tensor f = SampleMatrices.gaussian(random, 6, 3);
        Tensor canonical = Stiefel.gradient(w, f, Metric.CANONICAL);
        Tensor euclidean = Stiefel.gradient(w, f, Metric.EUCLIDEAN);
        Tensor wf = w.transpose().matmul(f);
        // ⟨F, Z⟩ = ⟨∇, Z⟩ in the metric's inner product for every tangent Z
        Tensor z = Stiefel.project(w, SampleMatrices.gaussian(random, 6, 3));
        assertThat(inner(euclidean, z)).as("%s", seed).isCloseTo(inner(f, z), within(1e-12));
        Tensor half = z.addScaled(w.matmul(w.transpose().matmul(z)), -0.5);
        assertThat(inner(canonical, half)).as("%s", seed).isCloseTo(inner(f, z), within(1e-12));
        Tensor skew = wf.sub(wf.transpose());
        Tensor difference = canonical.sub(euclidean);
        assertThat(RelativeError.of(difference, w.matmul(skew).mul(0.5)))
                .as("they differ by W·skew(WᵀF), %s", seed)
                .isLessThan(1e-13);
    }

    @RandomTest(times = 8)
    void projectionIsIdempotentAndCanonicalFormulaIsNot(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        Tensor w = Stiefel.random(random, Shape.of(6, 3), DType.F64);
        Tensor z = SampleMatrices.gaussian(random, 6, 3);
        Tensor projected = Stiefel.project(w, z);
        assertThat(RelativeError.of(Stiefel.project(w, projected), projected))
                .as("%s", seed)
                .isLessThan(1e-14);
        assertThat(inner(z.sub(projected), projected))
                .as("it is orthogonal, %s", seed)
                .isCloseTo(0, within(1e-12));
        Tensor canonical = Stiefel.gradient(w, z, Metric.CANONICAL);
        assertThat(RelativeError.of(Stiefel.gradient(w, canonical, Metric.CANONICAL), canonical))
                .as("%s", seed)
                .isGreaterThan(0.05);
    }

    /** {@code max |WᵀZ + ZᵀW|}. */
    static double distanceFromTangent(Tensor w, Tensor z) {
        Tensor wz = w.transpose().matmul(z);
        return Decompositions.symmetric(wz).largestMagnitude() * 2;
    }

    private static double inner(Tensor a, Tensor b) {
        return a.mul(b).sum().item();
    }
}
