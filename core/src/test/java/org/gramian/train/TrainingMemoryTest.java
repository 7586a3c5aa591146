package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Locale;
import org.gramian.spd.FullResults;
import org.gramian.spd.SingleThreaded;
import org.gramian.tensor.Tensor;
import org.gramian.train.TrainingProcess.Measurement;
import org.gramian.train.TrainingProcess.Work;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Training and prediction free what they make: neither tensors nor the process's memory grow. */
@ExtendWith(SingleThreaded.class)
class TrainingMemoryTest {
    @Nested
    class InAProcessOfItsOwn {
        private static final long ALLOWED_GROWTH_KILOBYTES = 32 * 1024;

        @BeforeEach
        void residentMemoryCanBeRead() {
            assumeTrue(
                    Files.exists(TrainingProcess.STATUS),
                    "resident memory is read from " + TrainingProcess.STATUS + ", which this system lacks");
        }

        @ParameterizedTest
        @EnumSource(
                value = Work.class,
                names = {"TRAINING", "PREDICTION"})
        void noMemoryGrowsOverManySteps(Work work) throws IOException, InterruptedException {
            Measurement found = TrainingProcess.measure(work);
            FullResults.add(
                    TrainingMemoryTest.class,
                    String.format(
                            Locale.ROOT,
                            "%s, steps %,d to %,d: %d to %d live tensors, resident memory %+d kB",
                            work,
                            TrainingProcess.WARM_UP,
                            TrainingProcess.STEPS,
                            found.leastLive(),
                            found.mostLive(),
                            found.growthKilobytes()));
            assertThat(found.leastLive()).isEqualTo(found.live());
            assertThat(found.mostLive()).isEqualTo(found.live());
            assertThat(found.growthKilobytes()).as("%s", found).isLessThan(ALLOWED_GROWTH_KILOBYTES);
        }

        @Test
        void aLeakWouldBeSeen() throws IOException, InterruptedException {
            Measurement found = TrainingProcess.measure(Work.LEAK);
            assertThat(found.mostLive() - found.live()).isEqualTo(TrainingProcess.STEPS - TrainingProcess.WARM_UP);
            assertThat(found.growthKilobytes()).as("%s", found).isGreaterThan(ALLOWED_GROWTH_KILOBYTES);
        }
    }

    @Test
    void closingEverythingFreesEverything() {
        long live = Tensor.live();
        try (TextureBatch batch = TextureBatch.of(8, 1);
                HeadTraining head = paper()) {
            head.predict(batch.features());
            head.step(batch.features(), batch.targets());
        }
        long layouts = Tensor.live(); // the vectorization keeps its layout of each size for good
        try (TextureBatch batch = TextureBatch.of(8, 1);
                HeadTraining head = paper()) {
            head.predict(batch.features());
            head.step(batch.features(), batch.targets());
        }
        assertThat(Tensor.live()).isEqualTo(layouts);
        assertThat(layouts - live).isBetween(0L, 4L);
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
