package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.SplittableRandom;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tokens as the state between layers. */
@ExtendWith(Scoped.class)
class VisionTransformerTest {
    private static Tensor images(long height, long width) {
        return Tensors.gaussian(new SplittableRandom(3), Shape.of(2, 3, height, width), DType.F32);
    }

    @Test
    void networkAfterTokensHasNoTail() {
        assertRejected(() -> Backbone.of("vit-s16", "blocks.3").tail(), "need more than its feature maps");
    }

    /** Two layers of one network hold the maps that each of them has alone; the class token is the same everywhere. */
    @Test
    void patchTokensAndClassTokenAreConcatenated() {
        Backbone both = Backbone.of("vit-s16", "blocks.0+cls");
        try (BackboneTrial trial = BackboneTrial.of(both, DType.F32)) {
            Tensor features = trial.features(images(48, 32));
            assertThat(features.shape()).isEqualTo(Shape.of(2, 768, 3, 2));
            Tensor block = new BackboneTrial(both.cutAt("blocks.0"), trial.parameters()).features(images(48, 32));
            Tensor token = new BackboneTrial(both.cutAt("cls"), trial.parameters()).features(images(48, 32));
            assertTensor(features.slice(1, 0, 384)).isCloseTo(block, 1e-6);
            assertTensor(features.slice(1, 384, 768)).isCloseTo(token.expand(2, 384, 3, 2), 1e-6);
        }
    }

    @Test
    void rowsAndColumnsAfterTheLastWholePatchAreIgnored() {
        try (BackboneTrial trial = BackboneTrial.of(Backbone.of("vit-s16", "blocks.0"), DType.F32)) {
            Tensor images = images(47, 33);
            Tensor whole = images.slice(2, 0, 32).slice(3, 0, 32).copy();
            assertTensor(trial.features(images)).isCloseTo(trial.features(whole), 1e-6);
        }
        assertThatThrownBy(() -> Backbone.of("vit-s16").features(15, 32))
                .hasMessageContaining("the smallest square that fits is 16×16");
    }
}
