package org.gramian.explain.gradient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.explain.gradient.GradientExplainer.PairRanking;
import org.gramian.model.Model;
import org.gramian.pooling.SecondOrder;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScoreGradientTest {
    private static final double STEP = 1e-6;

    private static Tensor features(Model model, int crops) {
        Shape shape = Shape.of(crops, model.backbone().channels(), 4, 5);
        return Tensors.uniform(new SplittableRandom(11), 0.1, 2, shape, DType.F64);
    }

    private static void assertDerivative(double found, double forwards, double backwards) {
        double expected = (forwards - backwards) / (2 * STEP);
        assertThat(found).isCloseTo(expected, within(1e-6 * Math.max(1, Math.abs(expected))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "conv:6/rbf/spd:4/relu/triu/root/l2",
                "conv:6/rbf:gradient=printed/triu:gradient=printed/l2",
                "[bilinear/triu+conv:4/rbf/triu]/l2",
                "bilinear/triu/root/l2",
                "conv:6/covariance/isqrt:5/triu",
                "average",
                "gem:3/l2"
            })
    void gradientMatchesFiniteDifferences(String pooling) {
        try (Scope _ = Scope.open();
                Model model = Models.random(pooling, DType.F64)) {
            Tensor features = features(model, 3);
            Tensor direction = Tensors.gaussian(new SplittableRandom(12), features.shape(), DType.F64);
            Tensor gradient = new ScoreGradient(model).at(features, 1).features();
            assertDerivative(
                    gradient.mul(direction).sum().item(),
                    Models.score(model, features.addScaled(direction, STEP), 1),
                    Models.score(model, features.addScaled(direction, -STEP), 1));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"conv:6/rbf/spd:4/relu/triu/root/l2", "bilinear/triu/root/l2"})
    void contributionIsTheDerivativeByTheEntry(String pooling) {
        try (Scope _ = Scope.open();
                Model model = Models.random(pooling, DType.F64);
                Tape tape = Tape.inference()) {
            ScoreGradient.Gradients found = new ScoreGradient(model).at(features(model, 1), 0);
            ScoreGradient.HeadPath path = ScoreGradient.HeadPath.of(model.head());
            Bindings parameters = Bindings.of(model.headParameters().variables(tape));
            int size = Math.toIntExact(found.aggregatedFeatures().size(1));
            SecondOrder secondOrder = (SecondOrder) model.head().pooling().aggregation();
            for (PairRanking.Ranked pair : new PairRanking(secondOrder, found).top(5)) {
                double without = PairRanking.EntryTerms.of(secondOrder.kernel()).without(pair.first() == pair.second());
                double[] scores = new double[2];
                for (int side = 0; side < 2; side++) {
                    double[] entries = found.aggregatedFeatures().toDoubles();
                    int place = pair.first() * size + pair.second();
                    entries[place] += (side == 0 ? STEP : -STEP) * (entries[place] - without);
                    entries[pair.second() * size + pair.first()] = entries[place];
                    Tensor changed = Tensors.of(entries, Shape.of(1, size, size), DType.F64);
                    scores[side] = path.scores(tape.constant(changed), parameters)
                            .value()
                            .toDoubles()[0];
                }
                assertDerivative(pair.contribution(), scores[0], scores[1]);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "conv:6/bilinear/triu",
                "conv:6/covariance/triu",
                "conv:6/polynomial:degree=2,scale=1,offset=1/triu",
                "conv:6/rbf/triu",
                "conv:6/laplacian:sigma=3/triu"
            })
    void contributionsOfLinearScoresAreComplete(String pooling) {
        try (Scope _ = Scope.open();
                Model model = Models.random(pooling, DType.F64)) {
            Tensor features = features(model, 2);
            ScoreGradient.Gradients found = new ScoreGradient(model).at(features, 0);
            double sum = new PairRanking(model.head().pooling().aggregation(), found)
                    .top(1000).stream()
                            .mapToDouble(PairRanking.Ranked::contribution)
                            .sum();
            ScoreGradient.HeadPath path = ScoreGradient.HeadPath.of(model.head());
            try (Tape tape = Tape.inference()) {
                Bindings parameters = Bindings.of(model.headParameters().variables(tape));
                Tensor none = Tensors.zeros(found.maps().shape(), DType.F64, Device.CPU);
                double blank = path.scores(path.aggregatedFeatures(tape.constant(none), parameters), parameters)
                        .value()
                        .slice(1, 0, 1)
                        .mean()
                        .item();
                assertThat(sum + blank).isCloseTo(Models.score(model, features, 0), within(1e-9));
            }
        }
    }
}
