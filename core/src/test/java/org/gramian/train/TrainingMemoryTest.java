package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.gramian.spd.SingleThreaded;
import org.gramian.tensor.Tensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Training and prediction free the tensors they make. */
@ExtendWith(SingleThreaded.class)
class TrainingMemoryTest {
    @Test
    void tensorsDoNotGrowOverManySteps() {
        try (TextureBatch batch = TextureBatch.of(8, 1);
                HeadTraining head = paper()) {
            for (int step = 0; step < 30; step++) {
                head.step(batch.features(), batch.targets());
                head.predict(batch.features());
            }
            long live = Tensor.live();
            for (int step = 0; step < 100; step++) {
                head.step(batch.features(), batch.targets());
                head.predict(batch.features());
                assertThat(Tensor.live()).isEqualTo(live);
            }
        }
    }

    @Test
    void aStepThatFailsLeavesNoTensorBehind() {
        try (TextureBatch batch = TextureBatch.of(8, 1);
                TextureBatch other = TextureBatch.of(4, 1);
                HeadTraining head = paper()) {
            head.step(batch.features(), batch.targets());
            long live = Tensor.live();
            for (int step = 0; step < 5; step++) {
                assertThatThrownBy(() -> head.step(batch.features(), other.targets()))
                        .hasMessageContaining("cross-entropy");
            }
            assertThat(Tensor.live()).isEqualTo(live);
        }
    }

    private static HeadTraining paper() {
        return new HeadTraining(HeadTraining.PAPER, TextureBatch.CHANNELS, TextureBatch.CLASSES, 2);
    }
}
