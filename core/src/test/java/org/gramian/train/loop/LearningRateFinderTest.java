package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.dataset.Sample;
import org.gramian.testing.PaintedImages;
import org.gramian.train.AdamWOptions;
import org.gramian.train.loop.LearningRateFinder.Point;
import org.gramian.train.loop.LearningRateFinder.Result;
import org.gramian.train.loop.LearningRateFinder.Smoothing;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.loop.TrainEvent.EpochDone;
import org.gramian.train.loop.TrainEvent.RateFound;
import org.gramian.train.loop.TrainEvent.Solving;
import org.gramian.train.loop.TrainEvent.Stepped;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Augmenting;
import org.gramian.train.recipe.Recipe.Batching;
import org.gramian.train.recipe.Recipe.OptimizerRecipe;
import org.gramian.train.recipe.StageRecipe;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class LearningRateFinderTest {
    private static final double DEFAULT = 0.01;

    private static final Map<Kind, Outcome> WHOLE = new EnumMap<>(Kind.class);

    @TempDir
    private static Path images = Path.of("");

    private static Parts parts = new Parts(List.of(new Sample("none", 0, images)), List.of(), List.of());

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void paint() throws IOException {
        parts = SmallTraining.divide(PaintedImages.folders(images, 8, 8, 8));
    }

    /** The steps of a test whose loss is a function of the learning rate; it ends as the test itself does. */
    private static List<Point> curve(int steps, DoubleUnaryOperator loss) {
        List<Point> points = new ArrayList<>();
        Smoothing smoothing = new Smoothing(steps);
        for (int i = 0; i < steps && !smoothing.diverged(); i++) {
            double rate = LearningRateFinder.rate(DEFAULT, i, steps);
            double value = loss.applyAsDouble(rate);
            if (!Double.isFinite(value)) {
                break;
            }
            points.add(new Point(rate, value, smoothing.next(value)));
        }
        return points;
    }

    /** Falls from 2.3 to 0.3 about a rate of 0.01, steepest there, and blows up from 0.1 on. */
    private static double descent(double rate) {
        return 0.3 + 2 / (1 + Math.pow(rate / DEFAULT, 2)) + Math.pow(10 * rate, 6);
    }

    @Test
    void ratesRiseExponentially() {
        assertThat(LearningRateFinder.rate(2, 0, 100)).isEqualTo(2e-6);
        assertThat(LearningRateFinder.rate(2, 99, 100)).isBetween(199.99, 200.01);
        double quotient = LearningRateFinder.rate(2, 50, 100) / LearningRateFinder.rate(2, 49, 100);
        assertThat(LearningRateFinder.rate(2, 8, 100) / LearningRateFinder.rate(2, 7, 100))
                .isBetween(quotient * 0.999999, quotient * 1.000001);
    }

    @Test
    void smoothedLossIsBiasCorrected() {
        Smoothing smoothing = new Smoothing(100);
        assertThat(smoothing.next(3)).isBetween(2.999999, 3.000001);
        assertThat(smoothing.next(1)).isBetween(1.947, 1.948); // (0.9·3 + 1)/1.9
        for (int i = 0; i < 200; i++) {
            smoothing.next(1);
        }
        assertThat(smoothing.diverged()).isFalse();
        assertThat(smoothing.next(40)).isGreaterThan(4);
        assertThat(smoothing.diverged()).isTrue();
    }

    /** The steepest place of the smoothed loss lies a little later than that of the loss; a third makes up for it. */
    @ParameterizedTest
    @ValueSource(ints = {20, 30, 50, 100})
    void rateIsNearTheSteepestDescent(int steps) {
        List<Point> points = curve(steps, LearningRateFinderTest::descent);
        assertThat(LearningRateFinder.choose(points, steps)).isPresent();
        assertThat(LearningRateFinder.choose(points, steps).orElseThrow()).isBetween(DEFAULT / 4, DEFAULT * 4);
        if (steps == 100) {
            assertThat(points).hasSizeLessThan(steps); // blown up
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void noiseChangesTheRateLittle(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Point> points = curve(100, rate -> descent(rate) + random.nextGaussian(0, 0.15));
        assertThat(LearningRateFinder.choose(points, 100).orElseThrow()).isBetween(DEFAULT / 8, DEFAULT * 8);
    }

    @Test
    void lossThatNeverFallsGivesNoRate() {
        assertThat(LearningRateFinder.choose(curve(100, _ -> 2.3), 100)).isEmpty();
        assertThat(LearningRateFinder.choose(curve(100, rate -> 2.3 + rate), 100))
                .isEmpty();
        SplittableRandom random = new SplittableRandom(3);
        assertThat(LearningRateFinder.choose(curve(100, _ -> 2.3 + random.nextGaussian(0, 0.05)), 100))
                .isEmpty();
    }

    @Test
    void nonFiniteLossGivesNoRate() {
        for (int finite = 0; finite <= 8; finite++) {
            int last = finite;
            int[] step = {0};
            List<Point> points = curve(100, _ -> step[0]++ < last ? 2.3 - 0.01 * step[0] : Double.NaN);
            assertThat(points).hasSize(finite);
            assertThat(LearningRateFinder.choose(points, 100)).isEmpty();
        }
    }

    @Test
    void ratesHaveTwoDigits() {
        double rate = LearningRateFinder.choose(curve(100, LearningRateFinderTest::descent), 100)
                .orElseThrow();
        assertThat(new Result(2, rate, true, List.of()).rateText()).matches("0\\.0*[1-9]\\d?");
    }

    @Test
    void resultRoundTripsAndHasOneLine() throws IOException {
        Result found = new Result(2, 1.3e-5, true, curve(30, LearningRateFinderTest::descent));
        Result usual = new Result(1, 0.002, false, found.points());
        Path file = folder.resolve(LearningRateFinder.FILE);
        Result.write(file, List.of(usual, found));
        assertThat(Result.read(file)).containsExactly(usual, found);
        assertThat(new RateFound(found, 12.34).text())
                .is(facts("stage 2", "0.000013", 27, "12.3 s"))
                .doesNotContain("\n");
        assertThat(new RateFound(usual, 3).text())
                .is(facts("stage 1", "0.002", "default", 27, "3.0 s"))
                .doesNotContain("\n");
    }

    /** Trainings that keep different things in mind. */
    enum Kind {
        SGD_BATCH_NORM_AND_DROPOUT {
            @Override
            SmallTraining on(Parts parts) {
                Recipe recipe = Recipes.of(stage(6, 0.5, "cosine", 1.5), stage(5, 0.02, "constant", 0));
                return SmallTraining.of(Recipes.withDropout(Recipes.with(recipe, new Batching(1, 2)), 0.3), parts)
                        .withNormalizedScores();
            }
        },
        ADAMW_AVERAGED_WEIGHTS_AND_AUGMENTATION {
            @Override
            SmallTraining on(Parts parts) {
                Recipe recipe = Recipes.of(stage(0, 0, "constant", 0), stage(8, 0.002, "cosine", 0.5));
                OptimizerRecipe optimizer = new OptimizerRecipe(AdamWOptions.defaults(0), 0.5, 0.9);
                return SmallTraining.of(
                        Recipes.with(
                                Recipes.with(recipe, optimizer),
                                new Augmenting(Augmentation.parse("strong"), 16, 0.4, 1)),
                        parts);
            }
        },
        A_RATE_BY_THE_LENGTH_OF_THE_FIRST_DESCRIPTORS {
            @Override
            SmallTraining on(Parts parts) {
                return SmallTraining.of(Recipes.of(Recipes.perLength(20, 0.5), stage(0, 0, "constant", 0)), parts)
                        .with("pca:6/covariance/sqrt/triu");
            }
        };

        abstract SmallTraining on(Parts parts);

        SmallTraining auto(Parts parts) {
            SmallTraining given = on(parts);
            return given.with(with(
                    given.recipe(),
                    given.recipe().stage1().withAutoRate(),
                    given.recipe().stage2().withAutoRate()));
        }

        /** The same training with the learning rates that range tests found. */
        SmallTraining byHand(Parts parts, List<RateFound> found) {
            StageRecipe[] stages = {
                on(parts).recipe().stage1(), on(parts).recipe().stage2()
            };
            found.forEach(one -> {
                StageRecipe stage = stages[one.result().stage() - 1];
                stages[one.result().stage() - 1] = new StageRecipe(
                        stage.epochs(),
                        one.result().rate(),
                        stage.backboneRate(),
                        stage.schedule(),
                        stage.warmup(),
                        stage.perLength());
            });
            return on(parts).with(with(on(parts).recipe(), stages[0], stages[1]));
        }

        private static Recipe with(Recipe recipe, StageRecipe stage1, StageRecipe stage2) {
            return recipe.toBuilder().stage1(stage1).stage2(stage2).build();
        }
    }

    /** A whole training of each kind, which several tests compare with. */
    private static Outcome whole(Kind kind) throws IOException {
        Outcome known = WHOLE.get(kind);
        Outcome whole = known == null ? kind.auto(parts).run() : known;
        WHOLE.put(kind, whole);
        return whole;
    }

    @ParameterizedTest
    @EnumSource
    void trainingEqualsThatOfTheSameGivenRate(Kind kind) throws IOException {
        Outcome auto = whole(kind);
        List<RateFound> found = auto.events(RateFound.class);
        assertThat(found).isNotEmpty();
        assertThat(found.getFirst().result().points()).hasSizeGreaterThan(10);
        if (kind == Kind.SGD_BATCH_NORM_AND_DROPOUT) {
            assertThat(found.getFirst().result().found()).isTrue();
            assertThat(found.getFirst().result().rate())
                    .isNotEqualTo(kind.on(parts).recipe().stage1().rate());
        }
        Outcome byHand = kind.byHand(parts, found).run();
        assertThat(byHand.events(RateFound.class)).isEmpty();
        assertThat(auto.model()).isEqualTo(byHand.model());
        assertThat(auto.events(EpochDone.class)).isEqualTo(byHand.events(EpochDone.class));
        assertThat(auto.events(Stepped.class)).isEqualTo(byHand.events(Stepped.class));
    }

    @ParameterizedTest
    @EnumSource
    void interruptedTestRestoresParametersAndRunsAgain(Kind kind) throws IOException {
        Outcome whole = whole(kind);
        int tests = whole.events(RateFound.class).size();
        for (int test = 1; test <= tests; test++) {
            Checkpointing checkpointing = SmallTraining.checkpointing(folder, Duration.ofDays(1));
            int wanted = test;
            int[] seen = {0};
            Cancellation breaks = Cancellation.onRequest();
            try {
                Outcome stopped = kind.auto(parts)
                        .run(
                                event -> {
                                    if (event instanceof Solving solving
                                            && solving.done() == 7
                                            && ++seen[0] == wanted) {
                                        breaks.cancel();
                                    }
                                },
                                breaks,
                                Optional.of(checkpointing));
                assertThat(stopped.early()).hasValue(Cancellation.Reason.CANCELLED);
            } catch (InterruptedTrainingException nothingTrainedYet) {
                assertThat(test).isEqualTo(1);
            }
            Outcome rest = kind.auto(parts).run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
            assertThat(rest.events(RateFound.class)).hasSize(tests - test + 1);
            assertThat(rest.model()).as("interrupted in test %d", test).isEqualTo(whole.model());
            checkpointing.remove();
        }
    }

    @ParameterizedTest
    @EnumSource
    void resumedTrainingDoesNotRepeatTheTest(Kind kind) throws IOException {
        Outcome whole = whole(kind);
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, Duration.ofDays(1));
        assertThat(kind.auto(parts).brokenAfter(1, checkpointing)).isPresent();
        List<RateFound> again = new ArrayList<>();
        int[] stepped = {0};
        Outcome rest = kind.auto(parts)
                .run(
                        event -> {
                            if (event instanceof Stepped) {
                                stepped[0]++;
                            } else if (event instanceof RateFound found && stepped[0] == 0) {
                                again.add(found);
                            }
                        },
                        Cancellation.onRequest(),
                        Optional.of(checkpointing));
        assertThat(again).isEmpty();
        assertThat(rest.model()).isEqualTo(whole.model());
    }

    /** The power fails right after the test, before anything else is kept. */
    @Test
    void killedTrainingResumesWithTheSameBytes() throws IOException {
        Kind kind = Kind.ADAMW_AVERAGED_WEIGHTS_AND_AUGMENTATION;
        Outcome whole = whole(kind);
        for (Class<?> at : List.of(Solving.class, RateFound.class, Stepped.class)) {
            Checkpointing checkpointing = SmallTraining.checkpointing(folder, Duration.ofDays(1));
            try {
                kind.auto(parts)
                        .run(
                                event -> {
                                    if (at.isInstance(event)) {
                                        throw new IllegalStateException("killed");
                                    }
                                },
                                Cancellation.onRequest(),
                                Optional.of(checkpointing));
            } catch (IllegalStateException killed) {
                assertThat(killed).hasMessage("killed");
            }
            Outcome rest = kind.auto(parts).run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
            assertThat(rest.model()).as("killed at %s", at.getSimpleName()).isEqualTo(whole.model());
            checkpointing.remove();
        }
    }

    @Test
    void stageOfFewStepsKeepsTheDefaultRate() throws IOException {
        Recipe recipe = Recipes.of(stage(2, 0.5, "constant", 0).withAutoRate(), stage(0, 0, "constant", 0));
        Outcome outcome = SmallTraining.of(recipe, parts).run();
        Result result = outcome.events(RateFound.class).getFirst().result();
        assertThat(result.found()).isFalse();
        assertThat(OptionalDouble.of(result.rate())).hasValue(0.5);
        assertThat(outcome.events(RateFound.class).getFirst().text()).contains("fewer than 20 steps");
        assertThat(outcome.model())
                .isEqualTo(SmallTraining.of(Recipes.first(2, 0.5), parts).run().model());
    }
}
