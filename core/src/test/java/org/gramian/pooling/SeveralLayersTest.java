package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.Map;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.backbone.Backbone;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Heads on several layers: selection of a layer, the tail on the last one, bounded convolutions, the learned scale. */
@ExtendWith(Scoped.class)
class SeveralLayersTest {
    private static final Backbone BOTH = Backbone.of("efficientnet-lite4", "block20+block29");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[layer:block29/tail+conv:256/covariance/isqrt:5/triu] | [layer:block29,from=160,to=608/tail:network=efficientnet-lite4,layer=block29,grid=block20+conv:256/covariance/isqrt:5/triu]",
                "[tail/l2+average] | [layer:block29,from=160,to=608/tail:network=efficientnet-lite4,layer=block29,grid=block20/l2+average]",
                "layer:block20/average | layer:block20,from=0,to=160/average",
                "conv:atmost=256/covariance/triu | conv:256/covariance/triu",
                "layer:block20/conv:atmost=256,bias=0/covariance/triu | layer:block20,from=0,to=160/conv:160,bias=0/covariance/triu",
                "cross/l2 | cross:160/l2"
            })
    void whatTextLeavesOpenIsDecidedByBackbone(String open, String decided) {
        Pooling pooling = Pooling.parse(open).resolve(BOTH, 100);
        assertThat(pooling).hasToString(decided.strip()).isEqualTo(Pooling.parse(decided));
        assertThat(pooling.resolve(BOTH, 100)).isEqualTo(pooling);
        assertThat(pooling.descriptorSize(BOTH.channels())).isPositive();
        pooling.requireFits(BOTH.features(300, 300));
    }

    @Test
    void layerSelectsItsChannels() {
        Tensor features = PoolingTrial.features(5);
        try (PoolingTrial whole = PoolingTrial.of("average");
                PoolingTrial part = PoolingTrial.of("layer:b,from=2,to=6/average")) {
            assertTensor(part.describe(features))
                    .isIdenticalTo(whole.describe(features).slice(1, 2, 6));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "layer:block28/average | block20 block29 --layer block20+block28",
                "conv:same/layer:block29/average | reduction layer:block29",
                "layer:block29,from=0,to=448/average | from=160,to=608 layer:block29",
                "conv:256/tail | 448 256 layer:block29"
            })
    void whatDoesNotStandOnBackboneIsRefused(String text, String values) {
        assertThatThrownBy(() -> Pooling.parse(text).resolve(BOTH, 100).descriptorSize(BOTH.channels()))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts((Object[]) values.split(" ")));
    }

    @Test
    void scaleStartsAtItsValueWithoutWeightDecay() {
        Tensor features = PoolingTrial.features(5);
        for (String text : new String[] {"average/l2", "conv:3/rbf/triu/root/l2"}) {
            try (PoolingTrial plain = PoolingTrial.of(text);
                    PoolingTrial scaled = PoolingTrial.of(text + "/scale:2.5")) {
                assertTensor(scaled.describe(features))
                        .isCloseTo(plain.describe(features).mul(2.5), 1e-12);
                assertThat(scaled.parameters.get("descriptor.scale.log").spec().role())
                        .isEqualTo(Role.BIAS);
                scaled.parameters.assign(
                        Map.of("descriptor.scale.log", Tensors.of(new double[] {0}, Shape.of(1), DType.F64)));
                assertTensor(scaled.describe(features)).isCloseTo(plain.describe(features), 1e-12);
            }
        }
        assertThat(Pooling.parse("average/l2/scale:30")).hasToString("average/l2/scale");
    }
}
