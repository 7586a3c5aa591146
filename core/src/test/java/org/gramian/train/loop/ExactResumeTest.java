package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.image.augment.Augmentation;
import org.gramian.train.AdamW;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Augmenting;
import org.gramian.train.recipe.Recipe.Batching;
import org.gramian.train.recipe.Recipe.Loss.ClassWeights;
import org.gramian.train.recipe.Recipe.OptimizerRecipe;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A training that is interrupted at any time and resumed ends with the same bytes. */
class ExactResumeTest extends PaintedParts {
    private static final Duration NEVER = Duration.ofDays(1);
    private static final boolean FULL = Boolean.getBoolean("gramian.full");

    /** Trainings that keep different things in mind. */
    enum Kind {
        MOMENTUM_AND_PLATEAU,
        BATCH_NORM_ACCUMULATION_COSINE_AND_WARMUP,
        NOTHING_HELD_BACK_AND_NO_MOMENTUM,
        A_RATE_BY_THE_LENGTH_OF_THE_FIRST_DESCRIPTORS,
        ADAMW_CLIPPING_AND_AVERAGED_WEIGHTS,
        SECOND_STAGE_ALONE_AND_A_FITTED_POOLING,
        DROPPED_CHANNELS_AND_A_FITTED_BARYCENTER,
        AUGMENTATION_MIXUP_AND_CUTMIX,
        AUGMENTATION_MIXUP_AND_ACCUMULATION
    }

    private SmallTraining training(Kind kind) {
        return switch (kind) {
            case MOMENTUM_AND_PLATEAU ->
                SmallTraining.of(Recipes.of(stage(3, 0.5, "plateau:1,1", 0), stage(2, 0.02, "plateau:1,0", 0)), parts);
            case BATCH_NORM_ACCUMULATION_COSINE_AND_WARMUP -> {
                Recipe recipe = Recipes.of(stage(2, 0.5, "cosine", 1.5), stage(2, 0.02, "cosine", 0.5));
                yield SmallTraining.of(Recipes.withDropout(Recipes.with(recipe, new Batching(2, 2)), 0.3), parts)
                        .withNormalizedScores();
            }
            case NOTHING_HELD_BACK_AND_NO_MOMENTUM -> {
                Recipe recipe =
                        Recipes.withoutMomentum(Recipes.of(stage(2, 0.5, "steps:1", 0), stage(1, 0.02, "constant", 0)));
                yield SmallTraining.of(Recipes.with(recipe, new Recipe.Loss(0.1, ClassWeights.BALANCED)), parts)
                        .with(new Parts(parts.training(), List.of(), parts.test()));
            }
            case A_RATE_BY_THE_LENGTH_OF_THE_FIRST_DESCRIPTORS ->
                SmallTraining.of(Recipes.of(Recipes.perLength(2, 0.5), stage(1, 0.001, "constant", 0)), parts)
                        .with("pca:6/covariance/sqrt/triu");
            case ADAMW_CLIPPING_AND_AVERAGED_WEIGHTS -> {
                Recipe recipe = Recipes.of(stage(2, 0.01, "cosine", 0.5), stage(2, 0.001, "plateau:1,0", 0));
                OptimizerRecipe optimizer = new OptimizerRecipe(AdamW.defaults(0), 0.5, 0.9);
                yield SmallTraining.of(Recipes.with(recipe, optimizer), parts);
            }
            case SECOND_STAGE_ALONE_AND_A_FITTED_POOLING ->
                SmallTraining.of(Recipes.of(stage(0, 0, "constant", 0), stage(2, 0.1, "constant", 0)), parts)
                        .with("pca:6/rbf:sigma=estimate/spd:4/relu/triu/root/l2");
            case DROPPED_CHANNELS_AND_A_FITTED_BARYCENTER -> {
                Recipe recipe = Recipes.of(stage(2, 0.1, "cosine", 0), stage(1, 0.01, "constant", 0));
                yield SmallTraining.of(Recipes.with(recipe, new Batching(2, 2)), parts)
                        .with("pca:6/dropcov/covariance:shrinkage=0.1/rbn/log/triu");
            }
            case AUGMENTATION_MIXUP_AND_CUTMIX -> {
                Recipe recipe = Recipes.of(stage(1, 0.5, "constant", 0), stage(3, 0.02, "cosine", 0));
                yield SmallTraining.of(
                        Recipes.with(recipe, new Augmenting(Augmentation.parse("strong+erase:0.5"), 16, 0.4, 1)),
                        parts);
            }
            case AUGMENTATION_MIXUP_AND_ACCUMULATION -> {
                Recipe recipe = Recipes.of(stage(0, 0, "constant", 0), stage(2, 0.02, "constant", 0));
                yield SmallTraining.of(
                        Recipes.with(
                                Recipes.with(recipe, new Batching(2, 2)),
                                new Augmenting(Augmentation.STANDARD, 16, 1, 0)),
                        parts);
            }
        };
    }

    @ParameterizedTest
    @EnumSource
    void interruptionAfterAnyStepChangesNoByteOfTheModel(Kind kind) throws IOException {
        SmallTraining training = training(kind);
        Outcome whole = training.run();
        int steps = whole.events(Stepped.class).size();
        assertThat(steps).isGreaterThan(3);
        for (int step = 1; step <= steps; step += FULL ? 1 : 5) {
            Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
            Optional<Outcome> first = training.brokenAfter(step, checkpointing);
            boolean stopped = first.flatMap(Outcome::early).isPresent() || first.isEmpty();
            Outcome last = training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
            assertThat(stopped || step == steps)
                    .as("a break after step %d", step)
                    .isTrue();
            requireSame(last, whole, "interrupted after step " + step);
            Files.deleteIfExists(checkpointing.file().orElseThrow());
        }
    }

    private static void requireSame(Outcome found, Outcome whole, String how) {
        assertThat(found.early()).as(how).isEmpty();
        assertThat(found.model()).as(how).isEqualTo(whole.model());
        assertThat(found.test()).as(how).isEqualTo(whole.test());
    }

    @ParameterizedTest
    @EnumSource
    void manyInterruptionsChangeNoByteOfTheModel(Kind kind) throws IOException {
        SmallTraining training = training(kind);
        Outcome whole = training.run();
        for (int every : FULL ? List.of(1, 4) : List.of(3)) {
            Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
            requireSame(
                    training.interruptedEvery(every, checkpointing), whole, "interrupted every " + every + " steps");
            Files.deleteIfExists(checkpointing.file().orElseThrow());
        }
    }

    /** A power failure: work since the last checkpoint is lost. */
    @ParameterizedTest
    @EnumSource
    void aCrashAtAnyEventChangesNoByteOfTheModel(Kind kind) throws IOException {
        SmallTraining training = training(kind);
        Outcome whole = training.run();
        List<TrainEvent> events = whole.events();
        for (int at = 0; at < events.size(); at += FULL ? 5 : 23) {
            Checkpointing checkpointing = SmallTraining.checkpointing(folder, at % 2 == 0 ? Duration.ZERO : NEVER);
            crash(training, checkpointing, at);
            requireSame(
                    training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing)),
                    whole,
                    "crashed at " + events.get(at));
            Files.deleteIfExists(checkpointing.file().orElseThrow());
        }
    }

    private static void crash(SmallTraining training, Checkpointing checkpointing, int at) throws IOException {
        int[] seen = {0};
        try {
            training.run(
                    _ -> {
                        if (seen[0]++ == at) {
                            throw new Crash();
                        }
                    },
                    Cancellation.onRequest(),
                    Optional.of(checkpointing));
            throw new AssertionError("nothing crashed");
        } catch (Crash _) {
            assertThat(seen[0]).isEqualTo(at + 1);
        }
    }

    /** A power cut. */
    private static final class Crash extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    @Test
    void epochsAreReportedAlikeWithAndWithoutInterruptions() throws IOException {
        SmallTraining training = training(Kind.BATCH_NORM_ACCUMULATION_COSINE_AND_WARMUP);
        List<EpochDone> whole = training.run().events(EpochDone.class);
        for (Duration every : List.of(NEVER, Duration.ZERO)) {
            Checkpointing checkpointing = SmallTraining.checkpointing(folder, every);
            List<EpochDone> reported = new ArrayList<>();
            for (boolean over = false; !over; ) {
                Cancellation breaks = Cancellation.onRequest();
                try {
                    over = training.run(
                                    event -> {
                                        if (event instanceof EpochDone done) {
                                            reported.add(done);
                                        } else if (event instanceof Stepped) {
                                            breaks.cancel();
                                        }
                                    },
                                    breaks,
                                    Optional.of(checkpointing))
                            .early()
                            .isEmpty();
                } catch (InterruptedTrainingException requested) {
                    over = false;
                }
            }
            assertThat(Stream.of(reported, whole).map(List::size)).containsOnly(4);
            assertThat(reported).isEqualTo(whole);
            Files.deleteIfExists(checkpointing.file().orElseThrow());
        }
    }

    @Test
    void interruptionDuringValidationKeepsTheSteps() throws IOException {
        SmallTraining training =
                SmallTraining.of(Recipes.of(stage(0, 0, "constant", 0), stage(1, 0.02, "constant", 0)), parts);
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
        Outcome whole = training.run();
        int steps = whole.events(Stepped.class).size();
        assertThat(training.brokenAfter(steps, checkpointing).orElseThrow().early())
                .hasValue(Cancellation.Reason.CANCELLED);
        Outcome rest = training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
        assertThat(rest.events(Stepped.class)).isEmpty();
        requireSame(rest, whole, "interrupted during validation");
    }
}
