package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.linear.LinearSolver;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent.RefitSkipped;
import org.gramian.train.event.TrainEvent.Refitted;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.event.TrainEvent.Task;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.loop.TrainingStage.Validator;
import org.gramian.train.recipe.Recipe;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The classifier that is refitted at the end of stage 1. */
class RefitTest {
    private static final int CLASSES = 3;
    private static final Duration NEVER = Duration.ofDays(1);

    @TempDir
    private Path folder = Path.of("");

    private Parts parts = new Parts(List.of(new Sample("none", 0, folder)), List.of(), List.of());

    /** Half of the images of a class train, a quarter each validates and tests. */
    @BeforeEach
    void paint() throws IOException {
        Dataset dataset = PaintedImages.folders(folder.resolve("images"), 24, 24, 24);
        List<List<Sample>> divided = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        int[] seen = new int[CLASSES];
        for (Sample sample : dataset.samples()) {
            int number = seen[sample.label()]++ % 4;
            divided.get(Math.max(0, number - 1)).add(sample);
        }
        parts = new Parts(divided.get(0), divided.get(1), divided.get(2));
    }

    private static Recipe recipe(Optional<String> refit, int epochs, double rate) {
        return Recipes.change(Recipes.first(epochs, rate), draft -> draft.refit = refit.map(LinearSolver::parse));
    }

    private SmallTraining training(String refit, int epochs, double rate) {
        return SmallTraining.of(recipe(Optional.of(refit), epochs, rate), parts);
    }

    /** The pooling has seen the labels of the cross-validation, which makes scores too large for other images. */
    @Test
    void smallerScoresWouldNotLowerTheValidationLoss() throws IOException {
        training("svm", 6, 0.5).run((model, material, context) -> {
            try (Scope _ = Scope.open();
                    FeatureTable table = material.features(
                            "validation",
                            parts.validation(),
                            material.testCrops(),
                            context.threads(),
                            context::measuring)) {
                int[] labels =
                        parts.validation().stream().mapToInt(Sample::label).toArray();
                Validator validator = Validator.of(() -> new HeadInference(model, table).logits(4), labels);
                double kept = validator.validate().loss();
                for (String name : List.of("classifier.weight", "classifier.bias")) {
                    Tensor value = model.headParameters().get(name).value();
                    model.headParameters().assign(Map.of(name, value.mul(0.5)));
                }
                assertThat(kept).isLessThanOrEqualTo(validator.validate().loss());
            }
        });
    }

    @Test
    void refitIsKeptWithoutMoreValidationErrors() throws IOException {
        Refitted refit = training("svm", 2, 0.01).run().events(Refitted.class).getFirst();
        assertThat(refit.kept()).isTrue();
        assertThat(refit.solvedAccuracy().orElseThrow())
                .isGreaterThanOrEqualTo(refit.trainedAccuracy().orElseThrow());
        assertThat(refit.solution().text()).contains("svm, C ");
    }

    /** On wrong validation labels what predicts one class throughout is better than what is right. */
    @Test
    void worseRefitIsNotKeptAndChangesNoByte() throws IOException {
        List<Sample> wrong = parts.validation().stream()
                .map(sample -> new Sample(sample.name(), (sample.label() + 1) % CLASSES, sample.file()))
                .toList();
        Parts mislabelled = new Parts(parts.training(), wrong, parts.test());
        Outcome trained =
                SmallTraining.of(recipe(Optional.empty(), 2, 0.01), mislabelled).run();
        assertThat(trained.events(Refitted.class)).isEmpty();
        Outcome refit = training("svm", 2, 0.01).with(mislabelled).run();
        Refitted found = refit.events(Refitted.class).getFirst();
        assertThat(found.solvedAccuracy().orElseThrow())
                .isLessThan(found.trainedAccuracy().orElseThrow());
        assertThat(found.kept()).isFalse();
        assertThat(refit.model()).isEqualTo(trained.model());
    }

    @Test
    void withoutAValidationSetACrossValidatedRefitIsKept() throws IOException {
        Parts all = new Parts(parts.training(), List.of(), parts.test());
        Refitted refit =
                training("svm", 2, 0.01).with(all).run().events(Refitted.class).getFirst();
        assertThat(refit.kept()).isTrue();
        assertThat(refit.solution().values()).containsKey("cv_accuracy");
        Parts single =
                new Parts(parts.training().subList(0, 1 + 2 * parts.training().size() / 3), List.of(), parts.test());
        assertThat(training("svm", 2, 0.01)
                        .with(single)
                        .run()
                        .events(Refitted.class)
                        .getFirst()
                        .kept())
                .as("a class with a single image")
                .isFalse();
    }

    @Test
    void normalizedScoresAreNotRefitted() throws IOException {
        Outcome outcome = training("svm", 2, 0.01).withNormalizedScores().run();
        assertThat(outcome.events(Refitted.class)).isEmpty();
        assertThat(outcome.events(RefitSkipped.class)).isEmpty();
    }

    @Test
    void interruptionAfterAnyStepChangesNoByte() throws IOException {
        SmallTraining training = SmallTraining.of(
                Recipes.change(Recipes.of(stage(2, 0.1, "constant", 0), stage(1, 0.01, "constant", 0)), draft -> {
                    draft.refit = Optional.of(LinearSolver.parse("svm"));
                    draft.batching = new Recipe.Batching(12, 1);
                }),
                parts);
        Outcome whole = training.run();
        assertThat(whole.events(Refitted.class)).hasSize(1);
        int steps = whole.events(Stepped.class).size();
        for (int step = 1; step <= steps; step++) {
            Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
            training.brokenAfter(step, checkpointing);
            Outcome last = training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
            assertThat(last.model()).as("interrupted after step %d", step).isEqualTo(whole.model());
            Files.deleteIfExists(checkpointing.file().orElseThrow());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"descriptors", "cross-validation of C", "fitting svm"})
    void interruptionDuringTheSolverChangesNoByte(String task) throws IOException {
        SmallTraining training = training("svm", 2, 0.1);
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
        Cancellation breaks = Cancellation.onRequest();
        Outcome stopped = training.run(
                event -> {
                    if (event instanceof Task now && now.name().equals(task)) {
                        breaks.cancel();
                    }
                },
                breaks,
                Optional.of(checkpointing));
        assertThat(stopped.early()).contains(Cancellation.Reason.CANCELLED);
        Outcome last = training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
        assertThat(last.model()).isEqualTo(training.run().model());
    }

    @Test
    void timeBudgetLeavesTheTrainedClassifier() throws IOException {
        long[] now = {0};
        Outcome outcome = training("svm", 2, 0.1)
                .run(
                        event -> {
                            if (event instanceof Task task && task.name().equals("descriptors")) {
                                now[0] = Duration.ofHours(1).toNanos();
                            }
                        },
                        Cancellation.after(Duration.ofMinutes(1), () -> now[0]),
                        Optional.of(SmallTraining.checkpointing(folder, NEVER)));
        assertThat(outcome.early()).contains(Cancellation.Reason.OUT_OF_TIME);
        assertThat(outcome.stages().get(1))
                .isEqualTo(SmallTraining.of(recipe(Optional.empty(), 2, 0.1), parts)
                        .run()
                        .model());
    }
}
