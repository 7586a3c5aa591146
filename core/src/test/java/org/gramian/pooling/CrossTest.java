package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.TensorAssert.assertTensor;

import org.gramian.backbone.Backbone;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

/** Maps of one layer weighted by those of another. */
class CrossTest {
    /** Σ_p a_k(p) x(p) / N, one map of the first layer at a time, as the paper has it. */
    @RandomTest
    void everyMapOfFirstLayerWeightsPositionsOfSecond(Seed seed) {
        try (Scope _ = Scope.open();
                PoolingTrial trial = PoolingTrial.of("cross:3")) {
            Tensor features = PoolingTrial.features(seed.random().nextLong());
            Tensor maps = features.reshape(3, PoolingTrial.CHANNELS, 20);
            Tensor found = trial.describe(features).reshape(3, 3, 4);
            for (int k = 0; k < 3; k++) {
                Tensor weighted = maps.slice(1, k, k + 1L).mul(maps.slice(1, 3, PoolingTrial.CHANNELS));
                Tensor pooled = weighted.sum(2).mul(1.0 / 20);
                assertTensor(found.slice(1, k, k + 1L).reshape(3, 4)).isCloseTo(pooled.reshape(3, 4), 1e-12);
            }
        }
    }

    @Test
    void onTwoLayersItKnowsWhereFirstOneEnds() {
        Backbone backbone = Backbone.of("googlenet", "inception_4d+inception_4e");
        Pooling pooling = Pooling.parse("cross-layer").resolve(backbone, 100);
        assertThat(pooling).hasToString("cross:528/root/l2");
        assertThat(pooling.descriptorSize(backbone.channels())).isEqualTo(528 * 832);
        assertThat(pooling.resolve(backbone, 100)).isEqualTo(pooling);
    }

    @Test
    void onOneLayerItSaysHowToWriteTwo() {
        assertThatThrownBy(() -> Pooling.parse("cross/l2").resolve(Backbone.of("googlenet"), 100))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("googlenet:inception_4e", "a+b", "--layer inception_4d+inception_4e");
        assertThatThrownBy(() -> Pooling.parse("cross/l2").resolve(Backbone.of("filters"), 100))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("filters:bank", "a+b");
    }

    @Test
    void behindReductionItMustBeToldWhereFirstLayerEnds() {
        Backbone backbone = Backbone.of("googlenet", "inception_4d+inception_4e");
        assertRejected(() -> Pooling.parse("conv:64/cross").resolve(backbone, 100), "cross:256");
        assertThat(Pooling.parse("conv:64/cross:30").resolve(backbone, 100).descriptorSize(1360))
                .isEqualTo(30 * 34);
        assertRejected(() -> Pooling.parse("conv:same/[cross/l2+average]").resolve(backbone, 100), "cross:256");
        assertThat(Pooling.parse("[cross/l2+average]").resolve(backbone, 100)).hasToString("[cross:528/l2+average]");
    }

    @Test
    void firstLayerThatEndsElsewhereIsRefused() {
        Backbone backbone = Backbone.of("googlenet", "inception_4d+inception_4e");
        assertRejected(() -> Pooling.parse("[cross:7/l2+average]").resolve(backbone, 100), "cross:7", "528", "7");
        assertThat(Pooling.parse("cross:528/l2").resolve(backbone, 100)).hasToString("cross:528/l2");
        assertThat(Pooling.parse("cross:7/l2").resolve(Backbone.of("googlenet"), 100))
                .hasToString("cross:7/l2");
    }
}
