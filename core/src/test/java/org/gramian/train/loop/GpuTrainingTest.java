package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.gramian.image.augment.Augmentation;
import org.gramian.tensor.Device;
import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;
import org.gramian.testing.Gpu;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.SmallTraining.Means;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.recipe.Recipe;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Training on a GPU, whose steps are recorded, against training on the processor. */
class GpuTrainingTest {
    @TempDir
    private Path folder = Path.of("");

    private SmallTraining on(Device device, Recipe recipe) throws IOException {
        Means means = new Means(2, Optional.empty(), device);
        return SmallTraining.of(
                        recipe, SmallTraining.divide(PaintedImages.folders(folder.resolve("images"), 9, 10, 11)))
                .with(means);
    }

    private static void requireClose(Outcome found, Outcome expected, double tolerance) {
        List<TrainEvent.EpochDone> epochs = expected.events(TrainEvent.EpochDone.class);
        assertThat(found.events(TrainEvent.EpochDone.class)).hasSameSizeAs(epochs);
        for (int i = 0; i < epochs.size(); i++) {
            TrainEvent.EpochDone epoch =
                    found.events(TrainEvent.EpochDone.class).get(i);
            assertThat(epoch.loss()).as("epoch %d", i).isCloseTo(epochs.get(i).loss(), within(tolerance));
            assertThat(epoch.accuracy()).isCloseTo(epochs.get(i).accuracy(), within(0.1));
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.4})
    void lossesAndScoresEqualThoseOfTheCpu(double dropout) throws IOException {
        Device gpu = Gpu.required();
        Recipe recipe = Recipes.withDropout(Recipes.standard(), dropout);
        requireClose(on(gpu, recipe).run(), on(Device.CPU, recipe).run(), 1e-3);
    }

    /** Images that are rendered and mixed on the GPU, in a CUDA graph, against those of the CPU. */
    @ParameterizedTest
    @CsvSource({"standard, 0, 0", "strong, 0.4, 1", "none, 0.4, 1"})
    void augmentedTrainingEqualsThatOfTheCpu(String policy, double mixup, double cutmix) throws IOException {
        Device gpu = Gpu.required();
        Recipe recipe =
                Recipes.with(Recipes.standard(), new Recipe.Augmenting(Augmentation.parse(policy), 16, mixup, cutmix));
        requireClose(on(gpu, recipe).run(), on(Device.CPU, recipe).run(), 3e-3);
    }

    @ParameterizedTest
    @EnumSource(Recipe.Precision.class)
    void lowerPrecisionChangesLittle(Recipe.Precision precision) throws IOException {
        Device gpu = Gpu.required();
        Recipe recipe = Recipes.with(Recipes.standard(), precision);
        requireClose(on(gpu, recipe).run(), on(gpu, Recipes.standard()).run(), 0.03);
    }

    @Test
    void deterministicAlgorithmsGiveTheSameBits() throws IOException {
        Device gpu = Gpu.required();
        Outcome first = Libtorch.load().with(GpuMath.EXACT, () -> run(gpu));
        Outcome again = Libtorch.load().with(GpuMath.EXACT, () -> run(gpu));
        assertThat(again.model()).isEqualTo(first.model());
    }

    private Outcome run(Device device) {
        try {
            return on(device, Recipes.standard()).run();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Test
    void nonFiniteStepIsReportedAsOnTheCpu() throws IOException {
        Device gpu = Gpu.required();
        Recipe wild = Recipes.of(Recipes.stage(0, 0, "constant", 0), Recipes.stage(2, 1e30, "constant", 0));
        assertThatThrownBy(() -> on(gpu, wild).run())
                .isInstanceOf(NonFiniteLossException.class)
                .hasMessageContaining("stage 2");
    }
}
