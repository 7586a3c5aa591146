package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.spd.SingleThreaded;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The whole head, trained on textures that differ in the correlation of their channels alone. */
@ExtendWith(SingleThreaded.class)
class LearningTest {
    private static final int STEPS = Boolean.getBoolean("gramian.full") ? 300 : 150;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "conv:8/rbf/spd:6/relu/triu/root/l2",
                "rbf/triu/root/l2",
                "bilinear/triu/root/l2",
                "covariance:jitter=0.01/log/triu/l2"
            })
    void secondOrderPoolingSeparatesTextures(String pooling) {
        try (TextureBatch training = TextureBatch.of(64, 1);
                TextureBatch test = TextureBatch.of(100, 2);
                HeadTraining head = new HeadTraining(pooling, TextureBatch.CHANNELS, TextureBatch.CLASSES, 3)) {
            double first = head.step(training.features(), training.targets());
            double last = first;
            for (int step = 1; step < STEPS; step++) {
                last = head.step(training.features(), training.targets());
            }
            assertThat(first).isBetween(0.5, 1.0);
            assertThat(last).as("loss, from %s", first).isLessThan(0.5 * first);
            assertThat(test.accuracy(head.predict(test.features())))
                    .as("accuracy on unseen textures")
                    .isGreaterThanOrEqualTo(0.9);
        }
    }

    @Test
    void averagePoolingDoesNotSeparateTextures() {
        try (TextureBatch training = TextureBatch.of(64, 1);
                TextureBatch test = TextureBatch.of(100, 2);
                HeadTraining head = new HeadTraining("average/l2", TextureBatch.CHANNELS, TextureBatch.CLASSES, 3)) {
            for (int step = 0; step < STEPS; step++) {
                head.step(training.features(), training.targets());
            }
            assertThat(test.accuracy(head.predict(test.features()))).isBetween(0.3, 0.7);
        }
    }
}
