package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.backbone.Backbone;
import org.gramian.cluster.KMeans;
import org.gramian.pooling.Normalization.Pca;
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
class DescriptorPcaTest {
    private static final SplittableRandom UNUSED = new SplittableRandom(0);

    /** The sample in coordinates along axes that were fitted to it. */
    private static Tensor coordinates(Tensor rows, int axes) {
        Pca pca = new Pca(OptionalInt.of(axes));
        try (ParameterSet parameters =
                        ParameterSet.initialize(pca.parameters(rows.size(1)), UNUSED, rows.type(), Device.CPU);
                Tape tape = Tape.inference()) {
            pca.fit(rows, parameters, UNUSED);
            return pca.apply(tape.constant(rows), Bindings.of(parameters.variables(tape)))
                    .value()
                    .copy();
        }
    }

    @RandomTest
    void coordinatesAreUncorrelatedAndFirstSpreadMost(Seed seed) {
        for (Tensor rows : new Tensor[] {seed.gaussian(9, 40), seed.gaussian(40, 9)}) {
            Tensor found = coordinates(rows, 6);
            assertThat(found.sum(0).largestMagnitude()).isLessThan(1e-11);
            Tensor scatter = found.transpose().matmul(found);
            double[] variances = scatter.diagonal().toDoubles();
            for (int i = 1; i < 6; i++) {
                assertThat(variances[i]).isLessThanOrEqualTo(variances[i - 1]);
            }
            Tensor diagonal =
                    Tensors.identity(6, DType.F64, Device.CPU).mul(Tensors.of(variances, Shape.of(1, 6), DType.F64));
            assertTensor(scatter).isCloseTo(diagonal, 1e-11);
        }
    }

    @RandomTest(times = 5)
    void descriptorsLongerThanChunkAreWhole(Seed seed) {
        Tensor rows = seed.gaussian(4, 9000);
        Tensor found = coordinates(rows, 3);
        assertTensor(KMeans.squaredDistances(found, found)).isCloseTo(KMeans.squaredDistances(rows, rows), 1e-10);
    }

    @RandomTest(times = 5)
    void repeatedImagesGiveZerosAlongAxesThatDoNotExist(Seed seed) {
        for (long width : new long[] {4, 40}) {
            Tensor few = seed.gaussian(3, width);
            Tensor rows = Tensors.concat(List.of(few, few, few), 0);
            Tensor found = coordinates(rows, 4);
            assertThat(found.allFinite()).isTrue();
            assertThat(found.slice(1, 2, 4).largestMagnitude()).isZero();
            assertTensor(KMeans.squaredDistances(found, found)).isCloseTo(KMeans.squaredDistances(rows, rows), 1e-10);
        }
    }

    @Test
    void mostIsDecidedByTrainingImagesAndLengthOfDescriptor() {
        Backbone backbone = Backbone.of("googlenet", "inception_4e");
        Pooling open = Pooling.parse("fisher:64,weights=true/root/l2/pca:most");
        assertThat(open.resolve(backbone, 667).text()).endsWith("/l2/pca:666");
        assertThat(open.resolve(backbone, 667).descriptorSize(832)).isEqualTo(666);
        assertThat(open.resolve(backbone, 100_000).text()).endsWith("/l2/pca:4096");
        assertThat(Pooling.parse("average/pca:most").resolve(backbone, 100_000).text())
                .isEqualTo("average/pca:832");
        assertThat(open.resolve(backbone, 667).resolve(backbone, 667)).isEqualTo(open.resolve(backbone, 667));
    }

    @Test
    void rejectsMoreAxesThanImagesEarly() {
        Backbone backbone = Backbone.of("googlenet", "inception_4e");
        assertRejected(
                () -> Pooling.parse("average/pca:200").resolve(backbone, 200), "pca:200", "200", "pca:199", "pca:most");
        assertThatThrownBy(() -> Pooling.parse("average/pca:900").resolve(backbone, 2000))
                .has(facts("900", "832"));
        assertThatThrownBy(() -> Pooling.parse("average/pca:most").resolve(backbone, 1))
                .has(facts("1"));
        Tensor rows = Tensors.gaussian(UNUSED.split(), Shape.of(5, 30), DType.F64);
        assertThatThrownBy(() -> coordinates(rows, 5)).has(facts("5"));
    }

    @Test
    void wordMeansFeaturesBeforeAggregationAndDescriptorsAfterIt() {
        Pooling both = Pooling.parse("pca:5/average/l2/pca:3");
        assertThat(both.reductions()).containsExactly(new Reduction.Pca(5));
        assertThat(both.normalizations()).containsExactly(new Normalization.L2(), new Pca(OptionalInt.of(3)));
        assertThat(both.text()).isEqualTo("pca:5/average/l2/pca:3");
        assertThatThrownBy(() -> Pooling.parse("pca:most/average")).has(facts("'most'", "descriptor"));
        assertThatThrownBy(() -> Pooling.parse("rbf/pca:3/triu")).has(facts("pca", "rbf/pca:3/triu"));
        assertThatThrownBy(() -> Pooling.parse("average/pca")).has(facts("'axes'"));
        assertThatThrownBy(() -> Pooling.parse("average/pca:some")).has(facts("'axes'", "'some'"));
    }
}
