package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.gramian.image.dataset.Sample;
import org.gramian.linear.LinearSolver;
import org.gramian.model.Logits;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.Solved;
import org.gramian.train.event.TrainEvent.StageStarted;
import org.gramian.train.event.TrainEvent.Task;
import org.gramian.train.loop.SmallTraining.Means;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Loss.ClassWeights;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A classifier fitted by a solver in place of stage 1. */
class SolvedHeadTest extends PaintedParts {
    private static final Set<String> SOLVING = Set.of("descriptors", "cross-validation of C", "fitting svm");

    SolvedHeadTest() {
        super(8, 9, 10);
    }

    private static Recipe recipe(String classifier, ClassWeights weights) {
        return Recipes.change(Recipes.first(0, 1), draft -> {
            draft.loss = new Recipe.Loss(0, weights);
            draft.solver = Optional.of(LinearSolver.parse(classifier));
        });
    }

    private SmallTraining training(String classifier) {
        return SmallTraining.of(recipe(classifier, ClassWeights.NONE), parts).with("pca:4/covariance/log/triu");
    }

    private static double right(Outcome outcome, List<Sample> samples) {
        List<Logits> scores = outcome.test();
        double right = 0;
        for (int i = 0; i < samples.size(); i++) {
            right += scores.get(i).top() == samples.get(i).label() ? 1 : 0;
        }
        return right / samples.size();
    }

    @ParameterizedTest
    @ValueSource(strings = {"svm", "svm:C=10", "mean", "lda", "lda:shrinkage=0.5"})
    void solvedHeadIsAccurateAndDeterministic(String classifier) throws IOException {
        Parts itself = new Parts(parts.training(), parts.validation(), parts.training()); // chance is a third
        SmallTraining training = training(classifier).with(itself);
        Outcome outcome = training.run();
        assertThat(outcome.early()).isEmpty();
        assertThat(outcome.stages()).containsOnlyKeys(1);
        assertThat(right(outcome, itself.test())).isGreaterThan(0.6);
        assertThat(outcome.events(Solved.class).getFirst().classifier()).isEqualTo(classifier);
        assertThat(outcome.events(EpochDone.class)).isEmpty();
        assertThat(outcome.events(StageStarted.class)).isEmpty();
        assertThat(training.with(new Means(1, Optional.empty())).run().model()).isEqualTo(outcome.model());
    }

    @ParameterizedTest
    @ValueSource(strings = {"mean", "svm:C=1"})
    void lastFitUsesTrainingAndValidationImages(String classifier) throws IOException {
        SmallTraining training = training(classifier).with("covariance/log/triu");
        List<Sample> all = Stream.concat(parts.training().stream(), parts.validation().stream())
                .toList();
        assertThat(parts.validation()).isNotEmpty();
        assertThat(training.run().model())
                .isEqualTo(training.with(new Parts(all, List.of(), parts.test()))
                        .run()
                        .model());
    }

    @Test
    void classWeightsReachTheSolver() throws IOException {
        Recipe balanced = recipe("lda", ClassWeights.BALANCED);
        assertThat(training("lda").with(balanced).run().model())
                .isNotEqualTo(training("lda").run().model());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void interruptedSolverStartsAgain(int task) throws IOException {
        Set<String> tasks = new HashSet<>();
        Cancellation breaks = Cancellation.onRequest();
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, Duration.ZERO);
        assertThatExceptionOfType(InterruptedTrainingException.class)
                .isThrownBy(() -> training("svm")
                        .run(
                                event -> {
                                    if (event instanceof Task solving && SOLVING.contains(solving.name())) {
                                        tasks.add(solving.name());
                                    }
                                    if (tasks.size() == task) {
                                        breaks.cancel();
                                    }
                                },
                                breaks,
                                Optional.of(checkpointing)));
        assertThat(checkpointing.file().orElseThrow()).doesNotExist();
        Outcome again = training("svm").run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
        assertThat(again.model()).isEqualTo(training("svm").run().model());
    }
}
