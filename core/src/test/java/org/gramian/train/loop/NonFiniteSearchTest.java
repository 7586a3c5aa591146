package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.CustomAggregation;
import org.gramian.pooling.FirstOrder.Average;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.loop.NonFinite.Kind;
import org.gramian.train.loop.NonFiniteSearch.Batch;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Loss.ClassWeights;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every place of a step is spoilt once, and is the one that is named. */
class NonFiniteSearchTest {
    private static final String POOLING = "conv:6/rbf/spd:4/relu/triu/root/l2";
    private static final int CLASSES = 3;

    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    private static Model model(String pooling, boolean normalized) {
        return model(Pooling.parse(pooling), normalized);
    }

    private static Model model(Pooling pooling, boolean normalized) {
        Backbone backbone = Backbone.of("squeezenet", "fire2");
        SplittableRandom random = new SplittableRandom(5);
        ParameterSet parameters = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
        Head head = new Head(pooling, CLASSES, normalized);
        return Model.begin(backbone, parameters, head, random, Device.CPU);
    }

    private static Tensor images() {
        return Tensors.gaussian(new SplittableRandom(6), Shape.of(2, 3, 40, 40), DType.F32);
    }

    private static Tensor features(double scale) {
        Tensor gaussian = Tensors.gaussian(new SplittableRandom(7), Shape.of(2, 128, 4, 4), DType.F32);
        return gaussian.mul(scale);
    }

    private static Tensor targets() {
        Targets targets = Targets.of(new Recipe.Loss(0, ClassWeights.NONE), new long[CLASSES]);
        return targets.rows(new int[] {2, 0}, Device.CPU);
    }

    /** Sets the first element. */
    private static Tensor spoilt(Tensor value, double number) {
        Tensor copy = value.copy();
        copy.reshape(copy.shape().elements()).slice(0, 0, 1).fill(number);
        return copy;
    }

    private static NonFinite find(Model model, Tensor images) {
        return NonFiniteSearch.find(model, Batch.IMAGES, images, targets());
    }

    private static NonFinite findInFeatures(String pooling, Map<String, Double> spoilt, Tensor features) {
        try (Model model = model(pooling, false)) {
            spoilt.forEach((name, number) -> {
                Parameter parameter = model.headParameters().get(name);
                parameter.set(spoilt(parameter.value(), number));
            });
            return NonFiniteSearch.find(model, Batch.FEATURES, features, targets());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void finiteStepFindsAndChangesNothing(boolean normalized) {
        try (Model model = model(POOLING, normalized)) {
            byte[] before = bytes(model.headParameters());
            assertThat(find(model, images()).kind()).isEqualTo(Kind.NOWHERE);
            assertThat(find(model, images().to(DType.BF16)).kind()).isEqualTo(Kind.NOWHERE);
            assertThat(bytes(model.headParameters())).isEqualTo(before);
        }
    }

    private static byte[] bytes(ParameterSet parameters) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        parameters.all().forEach(parameter -> all.writeBytes(parameter.value().toBytes()));
        return all.toByteArray();
    }

    @ParameterizedTest
    @CsvSource({"NaN", "Infinity", "-Infinity"})
    void nonFiniteInputIsNamed(double number) {
        try (Model model = model(POOLING, false)) {
            NonFinite found = find(model, spoilt(images(), number));
            assertThat(found.kind()).isEqualTo(Kind.INPUT);
            assertThat(found.text()).has(facts("gramian audit"));
            assertThat(found.before()).isEmpty();
        }
        assertThat(findInFeatures(POOLING, Map.of(), spoilt(features(1), number))
                        .kind())
                .isEqualTo(Kind.INPUT);
    }

    @Test
    void nonFiniteParametersAreNamedAndCounted() {
        try (Model model = model(POOLING, false)) {
            Parameter weight = model.headParameters().get("pooling.spd0.weight");
            weight.set(spoilt(weight.value(), Double.NaN));
            assertThat(find(model, images()).text()).has(facts("pooling.spd0.weight", "--lr"));
            Parameter first = model.backboneParameters().all().iterator().next();
            first.set(spoilt(first.value(), Double.NaN));
            assertThat(find(model, images()).place()).has(facts(first.name(), "backbone"));
        }
        NonFinite two = findInFeatures(
                POOLING, Map.of("classifier.bias", Double.NaN, "pooling.conv.bias", Double.NaN), features(1));
        assertThat(two.kind()).isEqualTo(Kind.PARAMETER);
        assertThat(two.place()).has(facts("pooling.conv.bias", "head", "1"));
    }

    @Test
    void parametersOfAFrozenBackboneAreNotChecked() {
        try (Model model = model(POOLING, false)) {
            Parameter first = model.backboneParameters().all().iterator().next();
            first.set(spoilt(first.value(), Double.NaN));
            assertThat(NonFiniteSearch.find(model, Batch.FEATURES, features(1), targets())
                            .kind())
                    .isEqualTo(Kind.NOWHERE);
        }
    }

    /** 3e38 is the largest number in single precision: an image of 1e37 is finite, what filters make of it is not. */
    @Test
    void overflowingLayerOfTheBackboneIsNamed() {
        try (Model model = model(POOLING, false)) {
            Parameter late = model.backboneParameters().all().stream()
                    .filter(parameter -> parameter.name().contains("expand1x1")
                            && parameter.name().endsWith("bias"))
                    .findFirst()
                    .orElseThrow();
            late.set(spoilt(late.value(), 3e38));
            Parameter weight = model.backboneParameters().get(late.name().replace("bias", "weight"));
            weight.set(weight.value().mul(3e37));
            NonFinite found = find(model, images().mul(100));
            assertThat(found.kind()).isEqualTo(Kind.BACKBONE);
            assertThat(found.place()).has(facts("fire2", "squeezenet"));
            assertThat(found.before()).has(facts("pool1", "squeezenet"));
            assertThat(found.largest()).isBetween(1.0, 1e5);
        }
    }

    /** Each parameter or feature is finite, and too large for what is made of it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "conv:6/rbf/triu       | pooling.conv.bias  | 3e38 | 5e37 | POOLING conv:6",
                "bilinear/triu/root/l2 |                    | 0    | 1e25 | POOLING bilinear",
                "conv:6/bilinear/spd:4/relu/triu | pooling.spd0.weight | 3e38 | 1e3 | POOLING 1 spd:4",
                "conv:6/bilinear/relu/spd:4/triu | pooling.spd0.weight | 3e38 | 1e3 | POOLING 2 spd:4",
                "average               | classifier.weight  | 3e38 | 1e3  | SCORES score"
            })
    void overflowingStageIsNamed(String pooling, String parameter, double number, double scale, String place) {
        Map<String, Double> spoilt = parameter == null ? Map.of() : Map.of(parameter, number);
        NonFinite found = findInFeatures(pooling, spoilt, features(scale));
        String[] expected = place.split(" ", 2);
        assertThat(found.kind()).isEqualTo(Kind.valueOf(expected[0]));
        assertThat(found.place()).has(facts((Object[]) expected[1].split(" ")));
        assertThat(found.text()).contains(found.place(), found.before());
        assertThat(found.largest()).isPositive().isFinite();
    }

    /** {@code exp(10⁴·mean)}, infinite for means above 0.009. */
    private static final class Exploding implements CustomAggregation {
        @Override
        public String text() {
            return "exploding";
        }

        @Override
        public long outputs(long channels) {
            return channels;
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            return new Average().apply(maps, parameters).mul(1e4).exp();
        }
    }

    @Test
    void customPoolingIsNamedByItsText() {
        Pooling pooling = new Pooling(List.of(), new Exploding(), List.of());
        try (Model model = model(pooling, false)) {
            NonFinite found = NonFiniteSearch.find(model, Batch.FEATURES, features(1), targets());
            assertThat(found.place()).has(facts("exploding"));
        }
    }

    /** All scores are finite, the difference of two is not. */
    @Test
    void overflowingLossIsNamed() {
        try (Model model = model("average", false)) {
            Tensor apart = Tensors.of(new double[] {3e38, 0, -3e38}, Shape.of(CLASSES), DType.F32);
            model.headParameters().get("classifier.bias").set(apart);
            NonFinite found = NonFiniteSearch.find(model, Batch.FEATURES, features(1), targets());
            assertThat(found.kind()).isEqualTo(Kind.LOSS);
            assertThat(found.before()).has(facts("score"));
            assertThat(found.text()).has(facts("3.00e+38"));
        }
    }

    /** The slope of the root at 0 is 1/(2√ε), here 1e17; times a weight of the classifier it has no end. */
    @Test
    void nonFiniteGradientIsNamed() {
        NonFinite found =
                findInFeatures("bilinear/spd:4/triu/root:eps=1e-35", Map.of("classifier.weight", 1e25), features(0));
        assertThat(found.kind()).isEqualTo(Kind.GRADIENT);
        assertThat(found.text()).has(facts("pooling.spd0.weight", "root:eps"));
    }

    @Test
    void nonFiniteTargetsAreNamed() {
        try (Model model = model(POOLING, false)) {
            Tensor targets = spoilt(targets(), Double.POSITIVE_INFINITY);
            assertThat(NonFiniteSearch.find(model, Batch.FEATURES, features(1), targets)
                            .kind())
                    .isEqualTo(Kind.TARGETS);
        }
    }

    /** The statistics of batch normalization take up what it saw: they are spoilt, but not the origin. */
    @Test
    void batchNormStatisticsAreNotTheOrigin() {
        try (Model model = model("average", true)) {
            for (String name : new String[] {"norm.running_mean", "norm.running_var"}) {
                Parameter statistics = model.headParameters().get(name);
                statistics.set(spoilt(statistics.value(), Double.NaN));
            }
            Parameter weight = model.headParameters().get("classifier.weight");
            weight.set(spoilt(weight.value(), 3e38));
            NonFinite found = NonFiniteSearch.find(model, Batch.FEATURES, features(1e3), targets());
            assertThat(found.kind()).isEqualTo(Kind.SCORES);
        }
    }
}
