package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.recipe.Recipe;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NonFiniteLayerTest {
    private static final String POOLING = "conv:6/rbf/spd:4/relu/triu/root/l2";

    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    static Model model(String pooling) {
        Backbone backbone = Backbone.of("squeezenet", "fire2");
        SplittableRandom random = new SplittableRandom(5);
        ParameterSet parameters = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
        return Model.begin(backbone, parameters, new Head(Pooling.parse(pooling), 3, false), random, Device.CPU);
    }

    private static Trainable allLayers(Model model, Recipe.Precision precision) {
        return TrainableModel.allLayers(model, Recipes.with(Recipes.standard(), precision));
    }

    private static Tensor images(double scale) {
        return Tensors.gaussian(new SplittableRandom(6), Shape.of(2, 3, 40, 40), DType.F32)
                .mul(scale);
    }

    private static Tensor features(double scale) {
        return Tensors.gaussian(new SplittableRandom(7), Shape.of(2, 128, 4, 4), DType.F32)
                .mul(scale);
    }

    @Test
    void finiteBatchHasNone() {
        try (Model model = model(POOLING)) {
            for (Recipe.Precision precision : Recipe.Precision.values()) {
                assertThat(allLayers(model, precision).nonFiniteLayer(images(1)))
                        .isEmpty();
            }
            assertThat(TrainableModel.head(model, false).nonFiniteLayer(features(1)))
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY})
    void nonFiniteInputIsNamed(double scale) {
        try (Model model = model(POOLING)) {
            assertThat(allLayers(model, Recipe.Precision.F32).nonFiniteLayer(images(scale)))
                    .hasValueSatisfying(facts("images"));
            assertThat(TrainableModel.head(model, false).nonFiniteLayer(features(scale)))
                    .hasValueSatisfying(facts("features"));
        }
    }

    @Test
    void layerOfTheBackboneIsNamed() {
        try (Model model = model(POOLING)) {
            Parameter weight = model.backboneParameters().get("fire2/squeeze1x1.weight");
            weight.set(Tensors.full(
                    Double.NaN, weight.spec().shape(), DType.F32, weight.value().device()));
            assertThat(allLayers(model, Recipe.Precision.F32).nonFiniteLayer(images(1)))
                    .hasValueSatisfying(facts("fire2", "squeezenet"));
        }
    }

    /** Each parameter or feature is finite, and too large for what is made of it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "conv:6/rbf/triu                 | pooling.conv.bias   | 5e37 | conv:6",
                "bilinear/triu/root/l2           |                     | 1e25 | bilinear",
                "conv:6/bilinear/spd:4/relu/triu | pooling.spd0.weight | 1e3  | spd:4",
                "average                         | classifier.weight   | 1e3  | scores"
            })
    void layerOfTheHeadIsNamed(String pooling, String parameter, double scale, String layer) {
        try (Model model = model(pooling)) {
            if (parameter != null) {
                Parameter large = model.headParameters().get(parameter);
                large.set(Tensors.full(3e38, large.spec().shape(), DType.F32, Device.CPU));
            }
            assertThat(TrainableModel.head(model, false).nonFiniteLayer(features(scale)))
                    .hasValueSatisfying(facts(layer));
        }
    }
}
