package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.cluster.GaussianMixture;
import org.gramian.cluster.GaussianMixture.Mixture;
import org.gramian.cluster.KMeans;
import org.gramian.pooling.Codebook.BagOfWords;
import org.gramian.pooling.Codebook.DeepTen;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.Codebook.Vlad;
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

/** Laws of methods that compare positions with a vocabulary. */
@ExtendWith(Scoped.class)
class VocabularyPoolingTest {
    private static Tensor apply(Aggregation aggregation, Tensor maps, Map<String, Tensor> parameters) {
        try (Tape tape = Tape.inference()) {
            Map<String, Var> variables = new HashMap<>();
            parameters.forEach((name, value) -> variables.put(name, tape.constant(value)));
            return aggregation
                    .apply(tape.constant(maps), Bindings.of(variables))
                    .value()
                    .copy();
        }
    }

    /** At the most likely mixture, no change of its parameters fits the data better. */
    @RandomTest(times = 5)
    void fisherVectorOfAllThatMixtureWasFittedToVanishes(Seed seed) {
        Tensor image = seed.gaussian(1, 3, 200);
        Tensor rows = image.transpose(1, 2).reshape(200, 3);
        Mixture mixture = new GaussianMixture(2, 5000, 0).fit(rows, seed.random());
        Map<String, Tensor> parameters =
                Map.of("weights", mixture.weights(), "means", mixture.means(), "deviations", mixture.deviations());
        Tensor vector = apply(new FisherVector(2, true), image, parameters);
        assertThat(vector.largestMagnitude()).isLessThan(1e-4);
        Tensor moved = apply(new FisherVector(2, true), image.add(0.5), parameters);
        assertThat(moved.largestMagnitude()).isGreaterThan(0.1);
    }

    @RandomTest(times = 5)
    void fisherVectorIsInvariantToJointTranslation(Seed seed) {
        Tensor maps = seed.gaussian(2, 4, 30);
        Tensor rows = maps.transpose(1, 2).reshape(60, 4);
        Mixture mixture = GaussianMixture.of(3).fit(rows, seed.random());
        Map<String, Tensor> here =
                Map.of("weights", mixture.weights(), "means", mixture.means(), "deviations", mixture.deviations());
        Map<String, Tensor> there = new HashMap<>(here);
        there.put("means", mixture.means().add(100));
        FisherVector fisher = new FisherVector(3, true);
        assertTensor(apply(fisher, maps.add(100), there)).isCloseTo(apply(fisher, maps, here), 1e-9);
    }

    @RandomTest(times = 10)
    void softAssignmentsThatAreSharpEnoughAreVlad(Seed seed) {
        Tensor maps = seed.gaussian(3, 4, 20);
        Tensor words = Tensors.gaussian(new SplittableRandom(seed.value() + 50), Shape.of(5, 4), DType.F64);
        double sharpness = 1e7;
        Tensor squares = words.mul(words).sum(1).reshape(5);
        Tensor netvlad = apply(
                new NetVlad(5, false),
                maps,
                Map.of(
                        "assignWeight", words.mul(2 * sharpness),
                        "assignBias", squares.mul(-sharpness),
                        "centroids", words));
        assertTensor(netvlad).isCloseTo(apply(new Vlad(5, true), maps, Map.of("words", words)), 1e-9);
        Tensor deepTen = apply(
                new DeepTen(5),
                maps,
                Map.of("codewords", words, "smoothing", Tensors.full(-sharpness, Shape.of(5), DType.F64, Device.CPU)));
        assertTensor(deepTen).isCloseTo(apply(new Vlad(5, false), maps, Map.of("words", words)), 1e-9);
    }

    @RandomTest(times = 5)
    void vladIsThatOfDefinition(Seed seed) {
        Tensor maps = seed.gaussian(1, 3, 25);
        Tensor words = Tensors.gaussian(new SplittableRandom(seed.value() + 50), Shape.of(4, 3), DType.F64);
        double[] x = maps.toDoubles();
        double[] c = words.toDoubles();
        double[] expected = new double[12];
        double[] counts = new double[4];
        for (int p = 0; p < 25; p++) {
            int nearest = 0;
            double smallest = Double.POSITIVE_INFINITY;
            for (int k = 0; k < 4; k++) {
                double square = 0;
                for (int i = 0; i < 3; i++) {
                    square += Math.pow(x[25 * i + p] - c[3 * k + i], 2);
                }
                nearest = square < smallest ? k : nearest;
                smallest = Math.min(smallest, square);
            }
            counts[nearest] += 1 / 25.0;
            for (int i = 0; i < 3; i++) {
                expected[3 * nearest + i] += x[25 * i + p] - c[3 * nearest + i];
            }
        }
        Map<String, Tensor> parameters = Map.of("words", words);
        assertThat(apply(new Vlad(4, false), maps, parameters).toDoubles())
                .containsExactly(expected, Offset.offset(1e-11));
        double[] shares = apply(new BagOfWords(4), maps, parameters).toDoubles();
        assertThat(shares).containsExactly(counts, Offset.offset(1e-12));
        assertThat(Arrays.stream(shares).sum()).isCloseTo(1, Offset.offset(1e-12));
    }

    @Test
    void bagOfWordsCannotBeDifferentiated() {
        assertThat(Pooling.parse("bow:3/root/l2").isDifferentiable()).isFalse();
        assertThat(Pooling.parse("vlad:3/root/l2").isDifferentiable()).isTrue();
        assertThat(Pooling.parse("conv:5/bow:3").warnings(7)).hasSize(1);
        assertThat(Pooling.parse("pca:5/bow:3").warnings(7)).isEmpty();
    }

    @RandomTest(times = 5)
    void atBeginningSecondNearestWordWeighsHundredth(Seed seed) {
        Tensor rows = seed.gaussian(300, 4).mul(7);
        Tensor words = KMeans.of(5).fit(rows, seed.random()).centres();
        double[] distances = KMeans.squaredDistances(rows, words).toDoubles();
        double gap = 0;
        for (int i = 0; i < 300; i++) {
            double[] own = Arrays.stream(distances, 5 * i, 5 * i + 5).sorted().toArray();
            gap += (own[1] - own[0]) / 300;
        }
        assertThat(Math.exp(-Vocabulary.sharpness(rows, words) * gap)).isCloseTo(0.01, Offset.offset(1e-9));
        assertThat(Vocabulary.sharpness(rows, words.slice(0, 0, 1))).isEqualTo(1);
    }

    @RandomTest(times = 5)
    void netVladStartsWithAssignmentsByDistance(Seed seed) {
        try (PoolingTrial trial = PoolingTrial.of("netvlad:4,unit=false")) {
            Tensor centroids = trial.parameters.get("netvlad.centroids").value();
            Tensor weight = trial.parameters.get("netvlad.assignWeight").value();
            Tensor bias = trial.parameters.get("netvlad.assignBias").value();
            double twice = weight.toDoubles()[0] / centroids.toDoubles()[0];
            assertTensor(weight).isCloseTo(centroids.mul(twice), 1e-12);
            Tensor squares = centroids.mul(centroids).sum(1).reshape(4);
            assertTensor(bias).isCloseTo(squares.mul(-twice / 2), 1e-12);
            Tensor words = trial.describe(PoolingTrial.features(seed.value())).reshape(3, 4, PoolingTrial.CHANNELS);
            assertTensor(words.mul(words).sum(2))
                    .isCloseTo(Tensors.full(1, Shape.of(3, 4, 1), DType.F64, Device.CPU), 1e-12);
        }
    }

    @RandomTest(times = 3)
    void levelsOfMopHaveUnitLengthAndFirstIsMean(Seed seed) {
        try (PoolingTrial trial = PoolingTrial.of("mop:2");
                PoolingTrial average = PoolingTrial.of("average/l2")) {
            Tensor features = PoolingTrial.features(seed.value());
            Tensor found = trial.describe(features);
            assertTensor(found.slice(1, 0, 7)).isCloseTo(average.describe(features), 1e-12);
            for (int level = 0; level < 2; level++) {
                Tensor part = found.slice(1, 7 + 14L * level, 21 + 14L * level);
                assertTensor(part.mul(part).sum(1))
                        .isCloseTo(Tensors.full(1, Shape.of(3, 1), DType.F64, Device.CPU), 1e-12);
            }
        }
    }

    @Test
    void moreWordsThanLocalFeaturesAreError() {
        Pooling pooling = Pooling.parse("vlad:61");
        assertRejected(() -> PoolingTrial.of(pooling).close(), "61", "clusters", "rows", "60");
    }

    @Test
    void largeSampleIsDrawnWithoutPuttingBack() {
        int count = Vocabulary.MAX_ROWS + 5000;
        double[] numbers = new double[count];
        Arrays.setAll(numbers, i -> i);
        Tensor maps = Tensors.of(numbers, Shape.of(5, 1, count / 5), DType.F64);
        Tensor one = Vocabulary.sample(maps, new SplittableRandom(3));
        assertThat(one.shape()).isEqualTo(Shape.of(Vocabulary.MAX_ROWS, 1));
        assertThat(Arrays.stream(one.toDoubles()).distinct().count()).isEqualTo(Vocabulary.MAX_ROWS);
        assertTensor(Vocabulary.sample(maps, new SplittableRandom(3))).isIdenticalTo(one);
    }
}
