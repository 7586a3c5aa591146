package org.gramian.explain.gradient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import org.gramian.autodiff.Parameter;
import org.gramian.explain.Explanation;
import org.gramian.explain.Explanation.HeatMap;
import org.gramian.explain.Explanation.Parts;
import org.gramian.image.Image;
import org.gramian.model.Classifier;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.tensor.DType;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GradientExplainerTest {
    private static final String PAPER = "conv:12/rbf/spd:6/relu/triu/root/l2";

    @ParameterizedTest
    @ValueSource(strings = {PAPER, "bilinear/triu/root/l2", "average"})
    void heatLiesOnTheTextureOfTheClass(String pooling) {
        Image both = Models.halves(128, 96);
        try (Model model = Models.telling(pooling, Models.stripes(64, 64, true), Models.stripes(64, 64, false))) {
            ModelCard card = Models.card("resize:" + Models.SIZE);
            assertThat(onTheLeft(Models.explain(model, card, both, 0).heat())).isGreaterThan(0.8);
            assertThat(onTheLeft(Models.explain(model, card, both, 1).heat())).isLessThan(0.2);
        }
    }

    private static double onTheLeft(HeatMap heat) {
        double left = 0;
        double all = 0;
        for (int y = 0; y < heat.height(); y++) {
            for (int x = 0; x < heat.width(); x++) {
                all += heat.strength(x, y);
                left += x < heat.width() / 2 ? heat.strength(x, y) : 0;
            }
        }
        return left / all;
    }

    /** Such a score is quadratic in the features, so that the midpoint rule is exact. */
    @ParameterizedTest
    @ValueSource(strings = {"center:48", "paper:48", "ten:48", "resize:48"})
    void heatSumsToTheScoreWithoutThatOfABlankImage(String crops) {
        try (Model model = Models.random("bilinear/triu", DType.F32)) {
            GradientExplainer explainer = new GradientExplainer(model, Models.card(crops), 0);
            CroppedImage view = CroppedImage.of(Models.halves(200, 140), Models.card(crops));
            Explanation why = explainer.explain(view, 0);
            BitSet all = new BitSet();
            all.set(0);
            double rest =
                    why.score() - explainer.explain(view.masked(all, 1, 1), 0).score();
            assertThat(Models.sum(why.heat())).isCloseTo(rest, within(0.01 * Math.abs(rest)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"center:48", "paper:48", "ten:48", "resize:48"})
    void probabilityIsThatOfThePrediction(String crops) {
        Image image = Models.halves(70, 90);
        Model model = Models.random(PAPER, DType.F32);
        ModelCard card = Models.card(crops);
        Explanation why = Models.explain(model, card, image, 1);
        try (Classifier classifier = Classifier.of(model, card)) {
            double answered = classifier.predict(image).ranking().stream()
                    .filter(guess -> guess.name().equals(why.className()))
                    .findFirst()
                    .orElseThrow()
                    .probability();
            assertThat(why.probability()).isCloseTo(answered, within(1e-5));
        }
    }

    @Test
    void coverageIsThatOfTheCrops() {
        try (Model model = Models.random("average", DType.F32)) {
            Image wide = Models.halves(112, 64);
            HeatMap centre =
                    Models.explain(model, Models.card("center:56"), wide, 0).heat();
            assertThat(centre.covers(0, 0)).isFalse();
            assertThat(centre.covers(56, 32)).isTrue();
            assertThat(centre.coverage()).isCloseTo(56.0 * 56 / (112 * 64), within(0.01));
            HeatMap all =
                    Models.explain(model, Models.card("resize:56"), wide, 0).heat();
            assertThat(all.coverage()).isEqualTo(1);
            assertThat((double) all.width() / all.height()).isEqualTo(112.0 / 64);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                PAPER,
                "conv:12/laplacian:sigma=3/triu",
                "conv:12/polynomial:degree=2,scale=1,offset=1/triu",
                "conv:12/covariance/triu",
                "conv:12/gaussian/triu",
                "bilinear/triu/root/l2",
                "average"
            })
    void mapOfAPairSumsToItsContribution(String pooling) {
        for (String crops : List.of("center:48", "paper:48")) {
            try (Model model = Models.random(pooling, DType.F32)) {
                Explanation why = Models.explain(model, Models.card(crops), Models.halves(100, 70), 0);
                assertThat(why.pairs()).isNotEmpty().allSatisfy(pair -> {
                    assertThat(Models.sum(pair.where()))
                            .isCloseTo(pair.contribution(), within(0.02 * Math.abs(pair.contribution())));
                });
            }
        }
    }

    @Test
    void inactiveMapsAreNotListed() {
        try (Model model = Models.random(PAPER, DType.F32)) {
            Parameter bias = model.headParameters().get("pooling.conv.bias");
            double[] values = bias.value().toDoubles();
            values[3] = -1e6;
            bias.set(Tensors.of(values, bias.value().shape(), DType.F32));
            ModelCard card = Models.card("center:48");
            CroppedImage view = CroppedImage.of(Models.halves(64, 64), card);
            Explanation why = new GradientExplainer(model, card, 1000).explain(view, 0);
            assertThat(why.pairs())
                    .hasSize(11 * 10 / 2)
                    .isSortedAccordingTo(Comparator.comparingDouble(pair -> -Math.abs(pair.contribution())))
                    .allMatch(pair -> pair.first() != 3 && pair.second() != 3 && pair.contribution() != 0);
        }
    }

    @Test
    void firstOrderPoolingsAttributeSingleMaps() {
        ModelCard card = Models.card("center:48");
        try (Model average = Models.random("average", DType.F32);
                Model joined = Models.random("[average+bilinear/triu]", DType.F32)) {
            Explanation single = Models.explain(average, card, Models.halves(64, 64), 0);
            assertThat(single.parts()).isEqualTo(Parts.CHANNELS);
            assertThat(single.pairs()).isNotEmpty().allMatch(pair -> pair.first() == pair.second());
            Explanation mixed = Models.explain(joined, card, Models.halves(64, 64), 0);
            assertThat(mixed.parts()).isEqualTo(Parts.NONE);
            assertThat(mixed.pairs()).isEmpty();
        }
    }

    @Test
    void rejectsPoolingsWithoutGradient() {
        ModelCard card = Models.card("center:48");
        try (Model words = Models.random("bow:4", DType.F32);
                Model model = Models.random("average", DType.F32)) {
            assertRejected(() -> new GradientExplainer(words, card, 0), "bow:4");
            assertThat(GradientExplainer.incompatibility(model.head())).isEmpty();
            assertThatThrownBy(() -> Models.explain(model, card, Models.plain(64, 64), 2))
                    .has(facts("0", "1", "2"));
        }
    }

    @Test
    void freesAllTensors() {
        try (Model model = Models.random(PAPER, DType.F32)) {
            Models.explain(model, Models.card("paper:48"), Models.halves(64, 64), 0); // layouts of a size are made once
            long before = Tensor.live();
            Models.explain(model, Models.card("paper:48"), Models.halves(64, 64), 0);
            assertThat(Tensor.live()).isEqualTo(before);
        }
    }
}
