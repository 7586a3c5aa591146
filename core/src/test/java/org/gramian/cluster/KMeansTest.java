package org.gramian.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.assertj.core.data.Offset;
import org.gramian.cluster.KMeans.Clusters;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class KMeansTest {
    @RandomTest
    void separatedBlobsAreFound(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor rows = Blobs.separated(6, 4, 30).draw(random);
        Clusters found = KMeans.of(6).fit(rows, random);
        assertThat(found.converged()).isTrue();
        long[] labels = found.labels().toLongs();
        TreeSet<Long> distinct = new TreeSet<>();
        for (int blob = 0; blob < 6; blob++) {
            long[] own = Arrays.copyOfRange(labels, 30 * blob, 30 * blob + 30);
            assertThat(own).containsOnly(own[0]);
            distinct.add(own[0]);
            Tensor mean = rows.slice(0, 30L * blob, 30L * blob + 30).sum(0).mul(1.0 / 30);
            assertTensor(found.centres().slice(0, own[0], own[0] + 1)).isCloseTo(mean, 1e-12);
        }
        assertThat(distinct).hasSize(6);
    }

    @RandomTest
    void convergedCentresAreMeans(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor rows = Tensors.gaussian(random, Shape.of(90, 3), DType.F64);
        Clusters found = new KMeans(5, 500).fit(rows, random);
        assertThat(found.converged()).isTrue();
        long[] labels = found.labels().toLongs();
        double[] x = rows.toDoubles();
        double[] centres = found.centres().toDoubles();
        for (int k = 0; k < 5; k++) {
            for (int j = 0; j < 3; j++) {
                double sum = 0;
                int count = 0;
                for (int i = 0; i < 90; i++) {
                    sum += labels[i] == k ? x[3 * i + j] : 0;
                    count += labels[i] == k ? 1 : 0;
                }
                assertThat(centres[3 * k + j]).isCloseTo(sum / count, Offset.offset(1e-12));
            }
        }
        double nearest = -KMeans.squaredDistances(rows, found.centres())
                .mul(-1)
                .max(1)
                .sum()
                .item();
        assertThat(found.inertia()).isCloseTo(nearest, Offset.offset(1e-9));
    }

    @RandomTest(times = 5)
    void moreIterationsNeverMakeItWorse(Seed seed) {
        Tensor rows = seed.gaussian(200, 4);
        double before = Double.POSITIVE_INFINITY;
        for (int iterations = 1; iterations < 12; iterations++) {
            double now = new KMeans(7, iterations).fit(rows, seed.random()).inertia();
            assertThat(now).isLessThanOrEqualTo(before * (1 + 1e-12));
            before = now;
        }
    }

    @Test
    void chunksGiveTheSameInertia() {
        Tensor some = Blobs.separated(3, 2, 20).draw(new SplittableRandom(4));
        Tensor many = some.unsqueeze(0).expand(400, 60, 2).reshape(24_000, 2);
        Clusters ofSome = KMeans.of(3).fit(some, new SplittableRandom(1));
        Clusters ofMany = KMeans.of(3).fit(many, new SplittableRandom(1));
        assertThat(ofMany.inertia()).isCloseTo(400 * ofSome.inertia(), Offset.offset(1e-6));
    }

    @RandomTest
    void emptyClustersRestart(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor few = Tensors.gaussian(random, Shape.of(6, 3), DType.F64);
        Tensor repeated = few.unsqueeze(0).expand(5, 6, 3).reshape(30, 3);
        Clusters found = KMeans.of(6).fit(repeated, random);
        assertThat(found.inertia()).isCloseTo(0, Offset.offset(1e-12));
        assertThat(Arrays.stream(found.labels().toLongs()).distinct()).hasSize(6);
    }

    @Test
    void rejectsFewerDistinctRowsThanClusters() {
        Tensor rows = Tensors.of(new double[] {1, 2, 1, 2, 3, 4, 3, 4, 3, 4}, Shape.of(5, 2), DType.F64);
        assertRejected(() -> KMeans.of(3).fit(rows, new SplittableRandom(1)), "3", "clusters", "rows", "2", "5");
        assertThat(KMeans.of(2).fit(rows, new SplittableRandom(1)).inertia()).isZero();
    }

    @Test
    void rejectsInvalidRows() {
        Tensor flat = Tensors.full(1, Shape.of(4), DType.F64, Device.CPU);
        assertThatThrownBy(() -> KMeans.of(1).fit(flat, new SplittableRandom(1)))
                .has(facts("[n, d]"))
                .hasMessageContaining("F64[4]");
        Tensor broken = Tensors.full(Double.NaN, Shape.of(4, 2), DType.F64, Device.CPU);
        assertThatThrownBy(() -> KMeans.of(1).fit(broken, new SplittableRandom(1)))
                .has(facts("NaN", "infinity"));
        assertThatThrownBy(() -> KMeans.of(0)).has(facts("1", "cluster"));
    }

    @RandomTest(times = 5)
    void squaredDistancesMatchTheDefinition(Seed seed) {
        Tensor rows = seed.gaussian(7, 4);
        Tensor centres = Tensors.gaussian(new SplittableRandom(seed.value() + 1), Shape.of(3, 4), DType.F64);
        double[] found = KMeans.squaredDistances(rows, centres).toDoubles();
        double[] x = rows.toDoubles();
        double[] c = centres.toDoubles();
        for (int i = 0; i < 7; i++) {
            for (int k = 0; k < 3; k++) {
                double square = 0;
                for (int j = 0; j < 4; j++) {
                    square += Math.pow(x[4 * i + j] - c[4 * k + j], 2);
                }
                assertThat(found[3 * i + k]).isCloseTo(square, Offset.offset(1e-12));
            }
        }
    }
}
