package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;

import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.pooling.Pooling.PoolingSyntaxException;
import org.junit.jupiter.api.Test;

/** Names, sizes and roles of the parameters of transforms that follow each other. */
class StackedTransformsTest {
    @Test
    void parametersAreNamedByWordAndNumberWithinWord() {
        Pooling pooling = Pooling.parse("covariance/spd:6/reeig:1e-4/o2t:9/spd:4/o2t:3/pv:2");
        assertThat(pooling.parameters(7).stream().map(ParameterSpec::name))
                .containsExactly("spd0.weight", "o2t0.weight", "spd1.weight", "o2t1.weight", "pv.weight");
        assertThat(pooling.parameters(7).stream().map(spec -> spec.shape().toString()))
                .containsExactly("[7, 6]", "[6, 9]", "[9, 4]", "[4, 3]", "[3, 2]");
        assertThat(pooling.parameters(7).stream().map(ParameterSpec::role))
                .containsExactly(Role.STIEFEL, Role.WEIGHT, Role.STIEFEL, Role.WEIGHT, Role.WEIGHT);
    }

    @Test
    void onlyFreeTransformMayEnlargeMatrix() {
        assertThat(Pooling.parse("covariance/o2t:9/triu").descriptorSize(7)).isEqualTo(45);
        assertThatThrownBy(() -> Pooling.parse("covariance/spd:9/triu").descriptorSize(7))
                .hasMessageContaining("spd:9");
    }

    @Test
    void gaussianHasOneRowMoreThanThereAreMaps() {
        assertThat(Pooling.parse("gaussian/triu").descriptorSize(7)).isEqualTo(36);
        assertThat(Pooling.parse("gaussian/spd:8/triu").parameters(7).getFirst().shape())
                .hasToString("[8, 8]");
    }

    @Test
    void rejectsShrinkageOutsideZeroToOne() {
        assertThat(Pooling.parse("covariance:shrinkage=0/triu")).hasToString("covariance/triu");
        for (String wrong : new String[] {"-0.1", "1.5"}) {
            assertRejected(
                    PoolingSyntaxException.class,
                    () -> Pooling.parse("covariance:shrinkage=" + wrong + "/triu"),
                    "0",
                    "1",
                    wrong);
        }
    }
}
