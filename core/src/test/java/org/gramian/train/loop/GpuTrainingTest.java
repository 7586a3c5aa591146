package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.gramian.testing.Gpu;
import org.gramian.testing.PaintedPictures;
import org.gramian.train.loop.SmallTraining.Means;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Training on a GPU, whose steps of stage 1 are recorded, against training on the processor. */
class GpuTrainingTest {
    @TempDir
    private Path folder = Path.of("");

    private SmallTraining on(Means means) throws IOException {
        return SmallTraining.of(
                        Recipes.usual(),
                        SmallTraining.divide(PaintedPictures.folders(folder.resolve("pictures"), 9, 10, 11)))
                .with(means);
    }

    @Test
    void lossesAndScoresAreThoseOfTheProcessor() throws IOException {
        Means gpu = new Means(2, Optional.empty(), Gpu.required());
        Outcome plain = on(Means.PLAIN).run();
        Outcome fast = on(gpu).run();
        List<TrainEvent.EpochDone> expected = plain.events(TrainEvent.EpochDone.class);
        List<TrainEvent.EpochDone> found = fast.events(TrainEvent.EpochDone.class);
        assertThat(found).hasSameSizeAs(expected);
        for (int i = 0; i < expected.size(); i++) {
            assertThat(found.get(i).loss())
                    .as("epoch %d", i)
                    .isCloseTo(expected.get(i).loss(), within(1e-3));
            assertThat(found.get(i).accuracy()).isCloseTo(expected.get(i).accuracy(), within(0.1));
        }
        assertThat(on(gpu).run().model()).as("once more").isEqualTo(fast.model());
    }
}
