package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.factory.DecompositionFactory_DDRM;
import org.ejml.interfaces.decomposition.EigenDecomposition_F64;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.pooling.FirstOrder.Average;
import org.gramian.pooling.Normalization.Pca;
import org.gramian.spd.layer.Barycenter;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class FittingTest {
    /** Congruence is an isometry: the barycenter of the normalized matrices is the identity, its own inverse root. */
    @Test
    void riemannianNormMovesBarycenterToIdentity() {
        Pooling pooling = Pooling.parse("covariance:jitter=0.1/rbn/flat");
        try (Scope _ = Scope.open();
                PoolingTrial trial = PoolingTrial.of(pooling)) {
            Tensor normalized = trial.describe(PoolingTrial.features(99)).reshape(3, 7, 7);
            assertTensor(Barycenter.inverseRoot(normalized))
                    .isCloseTo(Tensors.identity(7, DType.F64, Device.CPU), 1e-9);
        }
    }

    private static ParameterSet initialize(Pooling pooling, long channels) {
        return pooling.initialize(channels, new SplittableRandom(1), DType.F64, Device.CPU);
    }

    /** Covariance of channels over all images and positions, in plain loops, with the mean in the last row. */
    private static double[][] moments(Tensor features) {
        Grid x = Grid.of(features);
        int c = (int) features.size(1);
        double count = x.shape().elements() / (double) c;
        double[] mean = new double[c];
        Grid.make(x.shape(), p -> mean[p[1]] += x.at(p) / count);
        double[][] result = new double[c + 1][c];
        for (int i = 0; i < c; i++) {
            int row = i;
            Grid.make(
                    x.shape(),
                    p -> result[row][p[1]] +=
                            (x.at(p) - mean[p[1]]) * (x.at(p[0], row, p[2], p[3]) - mean[row]) / count);
        }
        result[c] = mean;
        return result;
    }

    /** The eigenvectors of the largest eigenvalues by EJML, each with its largest element positive. */
    private static double[][] principalAxes(double[][] covariance, int size, int count) {
        DMatrixRMaj matrix = new DMatrixRMaj(size, size);
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                matrix.set(i, j, covariance[i][j]);
            }
        }
        EigenDecomposition_F64<DMatrixRMaj> ejml = DecompositionFactory_DDRM.eig(size, true, true);
        assertThat(ejml.decompose(matrix)).isTrue();
        return IntStream.range(0, size)
                .boxed()
                .sorted((a, b) -> Double.compare(
                        ejml.getEigenvalue(b).getReal(), ejml.getEigenvalue(a).getReal()))
                .limit(count)
                .map(k -> positive(ejml.getEigenVector(k).getData().clone()))
                .toArray(double[][]::new);
    }

    private static double[] positive(double[] vector) {
        double largest = 0;
        for (double element : vector) {
            largest = Math.abs(element) > Math.abs(largest) ? element : largest;
        }
        for (int i = 0; i < vector.length; i++) {
            vector[i] *= Math.signum(largest);
        }
        return vector;
    }

    @RandomTest
    void principalAxesAgreeWithEjml(Seed seed) {
        Tensor features = mixed(seed);
        Pooling pooling = Pooling.parse("pca:2/average");
        double[][] moments = moments(features);
        double[][] axes = principalAxes(moments, 4, 2);
        try (ParameterSet parameters = initialize(pooling, 4)) {
            Fitting.fit(pooling, features, parameters, new SplittableRandom(3));
            assertThat(parameters.get("pca.mean").value().toDoubles())
                    .containsExactly(moments[4], Offset.offset(1e-13));
            double[] found = parameters.get("pca.components").value().toDoubles();
            for (int k = 0; k < 2; k++) {
                for (int i = 0; i < 4; i++) {
                    assertThat(found[4 * k + i]).isCloseTo(axes[k][i], Offset.offset(1e-7));
                }
            }
        }
    }

    /** Features whose channels depend on each other, with spreads that differ. */
    private static Tensor mixed(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor mixing = Tensors.gaussian(random, Shape.of(4, 4), DType.F64);
        Tensor maps = Tensors.gaussian(random, Shape.of(3, 4, 20), DType.F64);
        return mixing.matmul(maps).reshape(3, 4, 4, 5);
    }

    private static double[] flat(double[][] moments) {
        double[] values = new double[16];
        for (int i = 0; i < 4; i++) {
            System.arraycopy(moments[i], 0, values, 4 * i, 4);
        }
        return values;
    }

    @Test
    void whatHasNotBeenFittedRefusesToRun() {
        for (String text : new String[] {"rbf:sigma=estimate/triu", "pca:3/average"}) {
            Pooling pooling = Pooling.parse(text);
            assertThat(Fitting.isNeeded(pooling)).isTrue();
            try (PoolingTrial fitted = PoolingTrial.of(pooling);
                    ParameterSet fresh = initialize(pooling, PoolingTrial.CHANNELS)) {
                fresh.all()
                        .forEach(parameter -> fitted.parameters
                                .get(parameter.name())
                                .set(parameter.value().copy()));
                assertThatThrownBy(() -> fitted.describe(PoolingTrial.features(1)))
                        .as(text)
                        .isInstanceOf(IllegalStateException.class);
            }
        }
        assertThat(Fitting.isNeeded(Pooling.parse("rbf/triu"))).isFalse();
        assertThat(Fitting.isNeeded(Pooling.parse("conv:3/average"))).isFalse();
    }

    @RandomTest(times = 5)
    void estimatedWidthIsMeanDistanceAndStaysFrozen(Seed seed) {
        Tensor training = Tensors.gaussian(seed.random(), PoolingTrial.FEATURES, DType.F64);
        Pooling pooling = Pooling.parse("rbf:sigma=estimate/triu");
        try (PoolingTrial trial = PoolingTrial.of(pooling)) {
            trial.parameters.get("rbf.sigma").set(Tensors.full(Double.NaN, Shape.of(1), DType.F64, Device.CPU));
            Fitting.fit(pooling, training, trial.parameters, new SplittableRandom(3));
            double sigma = trial.parameters.get("rbf.sigma").value().item();
            assertThat(sigma).isCloseTo(meanDistance(Grid.of(training)), Offset.offset(1e-12));
            Tensor others = Tensors.gaussian(new SplittableRandom(77), PoolingTrial.FEATURES, DType.F64);
            try (PoolingTrial fixed = PoolingTrial.of("rbf:sigma=" + sigma + "/triu")) {
                assertTensor(trial.describe(others)).isCloseTo(fixed.describe(others), 1e-13);
            }
            Fitting.fit(pooling, others, trial.parameters, new SplittableRandom(3));
            assertThat(trial.parameters.get("rbf.sigma").value().item())
                    .as("what has a value is not fitted again")
                    .isEqualTo(sigma);
            assertThat(trial.gradients(others)).containsOnlyKeys("features");
        }
    }

    private static double meanDistance(Grid x) {
        double sum = 0;
        int c = PoolingTrial.CHANNELS;
        for (int n = 0; n < 3; n++) {
            for (int i = 0; i < c; i++) {
                for (int j = 0; j < c; j++) {
                    double square = 0;
                    for (int p = 0; p < 20; p++) {
                        square += Math.pow(x.at(n, i, p / 5, p % 5) - x.at(n, j, p / 5, p % 5), 2);
                    }
                    sum += Math.sqrt(square);
                }
            }
        }
        return sum / (3.0 * c * (c - 1));
    }

    @Test
    void stagesAreFittedToWhatStagesBeforeThemGive() {
        Pooling pooling = Pooling.parse("pca:5/pca:2/rbf:sigma=estimate/triu");
        try (PoolingTrial trial = PoolingTrial.of(pooling)) {
            double[] components =
                    trial.parameters.get("pca1.components").value().toDoubles();
            double[] expected = new double[10]; // the axes of principal components are the components themselves
            expected[0] = 1;
            expected[6] = 1;
            assertThat(components).containsExactly(expected, Offset.offset(1e-9));
            assertThat(trial.parameters.get("rbf.sigma").value().item()).isPositive();
        }
    }

    /** Remembers what it was fitted to, and the tensors alive whenever it is applied; otherwise the mean of each map. */
    private record Remembering(List<Double> seen, List<Long> live) implements CustomAggregation {
        @Override
        public String text() {
            return "remembering";
        }

        @Override
        public long outputs(long channels) {
            return channels;
        }

        @Override
        public List<ParameterSpec> parameters(long channels) {
            return List.of(Vocabulary.unset("value", ParameterSpec.Role.FITTED, 1));
        }

        @Override
        public int fittedTo() {
            return 3;
        }

        @Override
        public void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
            Arrays.stream(maps.toDoubles()).forEach(seen::add);
            parameters.get("value").set(Tensors.full(1, Shape.of(1), maps.type(), maps.device()));
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            live.add(Tensor.live());
            return new Average().apply(maps, parameters);
        }
    }

    @Test
    void everyStageIsFittedToItsNumberOfImages() {
        double[] numbers = new double[100]; // more than are described at a time
        Arrays.setAll(numbers, i -> i);
        Tensor features = Tensors.of(numbers, Shape.of(100, 1, 1, 1), DType.F64);
        Remembering stage = new Remembering(new ArrayList<>(), new ArrayList<>());
        Pooling pooling = new Pooling(List.of(), stage, List.of(new Pca(OptionalInt.of(1))));
        assertThat(Fitting.stages(pooling)).containsExactly("remembering", "pca:1");
        try (ParameterSet parameters = initialize(pooling, 1)) {
            Fitting.fit(pooling, features, parameters, new SplittableRandom(3));
            assertThat(stage.seen).containsExactly(0.0, 33.0, 66.0);
            assertThat(parameters.get("descriptor.pca.mean").value().item()).isCloseTo(49.5, Offset.offset(1e-12));
        }
    }
}
