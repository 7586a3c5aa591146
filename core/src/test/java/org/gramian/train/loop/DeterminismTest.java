package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.dataset.Sample;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.loop.SmallTraining.Means;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Batching;
import org.junit.jupiter.api.Test;

/** Inputs that determine a model, and those that do not. */
class DeterminismTest extends PaintedParts {
    private static final int CLASSES = 3;

    @Test
    void seedDeterminesTheModelBytes() throws IOException {
        Outcome first = training.run();
        Outcome again = training.run();
        assertThat(again.model()).isEqualTo(first.model());
        assertThat(again.events()).isEqualTo(first.events());
        assertThat(training.with(Recipes.withSeed(training.recipe(), 8)).run().model())
                .isNotEqualTo(first.model());
    }

    @Test
    void augmentationDoesNotDependOnThreads() throws IOException {
        SmallTraining augmented =
                training.with(Recipes.with(Recipes.standard(), new Recipe.Augmenting(Augmentation.STRONG, 16, 0.2, 1)));
        Outcome first = augmented.run();
        assertThat(first.model()).isNotEqualTo(training.run().model());
        for (int threads : List.of(1, 5)) {
            Outcome other = augmented.with(new Means(threads, Optional.empty())).run();
            assertThat(other.model()).as("%d threads", threads).isEqualTo(first.model());
            assertThat(other.events()).as("%d threads", threads).isEqualTo(first.events());
        }
    }

    @Test
    void augmentationLeavesStage1Unchanged() throws IOException {
        Outcome plain = training.run();
        Outcome augmented = training.with(
                        Recipes.with(Recipes.standard(), new Recipe.Augmenting(Augmentation.STANDARD, 16, 0.2, 0)))
                .run();
        assertThat(augmented.stages().get(1)).isEqualTo(plain.stages().get(1));
        assertThat(augmented.stages().get(2)).isNotEqualTo(plain.stages().get(2));
    }

    @Test
    void testImagesDoNotChangeTheModel() throws IOException {
        byte[] model = training.run().model();
        List<Sample> relabelled = parts.test().stream()
                .map(sample -> new Sample(sample.name(), (sample.label() + 1) % CLASSES, sample.file()))
                .toList();
        assertThat(with(parts.validation(), relabelled).run().model())
                .as("other labels")
                .isEqualTo(model);
        assertThat(with(parts.validation(), parts.test().reversed()).run().model())
                .as("another order")
                .isEqualTo(model);
        assertThat(with(parts.validation(), List.of()).run().model()).as("none").isEqualTo(model);
        assertThat(with(parts.validation(), parts.training()).run().model())
                .as("those of training")
                .isEqualTo(model);
        for (Sample sample : parts.test()) {
            PaintedImages.paint(sample.file(), (sample.label() + 1) % CLASSES, 77);
        }
        assertThat(training.run().model()).as("other images").isEqualTo(model);
    }

    private SmallTraining with(List<Sample> validation, List<Sample> test) {
        return training.with(new Parts(parts.training(), validation, test));
    }

    @Test
    void testImagesAreNotReadBeforeTheEndOfAStage() throws IOException {
        for (Sample sample : parts.test()) {
            Files.delete(sample.file());
        }
        List<TrainEvent> events = new ArrayList<>();
        try {
            training.run(events::add, Cancellation.onRequest(), Optional.empty());
            throw new AssertionError("removed images were scored");
        } catch (IOException | UncheckedIOException gone) {
            assertThat(events).hasAtLeastOneElementOfType(TrainEvent.StageDone.class);
            assertThat(gone).hasMessageContaining(parts.test().getFirst().name());
        }
    }

    @Test
    void validationImagesAreNotTrainedOn() throws IOException {
        List<Sample> relabelled = parts.validation().stream()
                .map(sample -> new Sample(sample.name(), (sample.label() + 1) % CLASSES, sample.file()))
                .toList();
        List<EpochDone> epochs = training.run().events(EpochDone.class);
        List<EpochDone> misjudged = with(relabelled, parts.test()).run().events(EpochDone.class);
        // In stage 1: stage 2 begins with the best parameters.
        assertThat(ofFirst(misjudged).map(EpochDone::loss).toList())
                .isEqualTo(ofFirst(epochs).map(EpochDone::loss).toList());
        assertThat(ofFirst(misjudged).map(EpochDone::validationLoss).toList())
                .isNotEqualTo(ofFirst(epochs).map(EpochDone::validationLoss).toList());
    }

    private static Stream<EpochDone> ofFirst(List<EpochDone> epochs) {
        return epochs.stream().filter(epoch -> epoch.stage() == 1);
    }

    @Test
    void accumulatedGradientsEqualThoseOfALargeBatch() throws IOException {
        Parts unjudged = new Parts(parts.training(), List.of(), parts.test());
        Recipe recipe = Recipes.of(stage(2, 0.2, "constant", 0), stage(2, 0.05, "constant", 0));
        for (String pooling : List.of("average", SmallTraining.SPD)) {
            SmallTraining whole = training.with(unjudged).with(pooling).with(Recipes.with(recipe, new Batching(4, 1)));
            float[] large = whole.run().numbers();
            float[] small =
                    whole.with(Recipes.with(recipe, new Batching(2, 2))).run().numbers();
            float[] other =
                    whole.with(Recipes.with(recipe, new Batching(2, 1))).run().numbers();
            assertThat(distance(small, large)).as(pooling).isCloseTo(0, Offset.offset(1e-4));
            assertThat(distance(other, large)).as(pooling).isGreaterThan(1e-3);
        }
    }

    private static double distance(float[] a, float[] b) {
        assertThat(a).hasSameSizeAs(b);
        return IntStream.range(0, a.length)
                .mapToDouble(i -> Math.abs(a[i] - b[i]) / (1 + Math.abs(b[i])))
                .max()
                .orElseThrow();
    }
}
