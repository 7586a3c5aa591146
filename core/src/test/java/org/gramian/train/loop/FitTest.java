package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;
import static org.gramian.train.loop.NonFiniteLayerTest.model;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.model.Model;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.loop.Fit.StageState;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Batching;
import org.gramian.train.recipe.Recipe.Loss.ClassWeights;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Single steps on synthetic features. */
class FitTest {
    private static final int CLASSES = 3;
    private static final int CHANNELS = 128;

    /**
     * Features of one scale.
     *
     * @param live number of tensors at each batch
     */
    private record SyntheticExamples(int count, double scale, List<Long> live) implements Examples {
        @Override
        public int label(int place) {
            return place % CLASSES;
        }

        @Override
        public Pass pass(int[] order, int batch, long epoch) {
            SplittableRandom random = new SplittableRandom(7);
            return Pass.over(order, batch, places -> {
                live.add(Tensor.live());
                Tensor gaussian = Tensors.gaussian(random, Shape.of(places.length, CHANNELS, 4, 4), DType.F32);
                return new Minibatch(
                        gaussian.mul(scale),
                        Arrays.stream(places).map(this::label).toArray());
            });
        }
    }

    private static void run(Model model, Examples examples, Batching batching) throws IOException {
        Recipe recipe = Recipes.with(Recipes.first(1, 0.1), batching);
        Targets targets = Targets.of(new Recipe.Loss(0, ClassWeights.NONE), new long[CLASSES]);
        TrainingStage stage = new TrainingStage(
                1, TrainableModel.head(model, false), recipe, TrainingContext.of(Device.CPU), examples, targets, null);
        Fit.run(stage, StageProgress.startOf(1, ValidationScore.NONE, 1), null);
    }

    @Test
    void gradientAccumulationTakesNoMoreMemory() throws IOException {
        List<Long> live = new ArrayList<>();
        try (Model model = model("conv:6/rbf/spd:4/relu/triu/root/l2")) {
            run(model, new SyntheticExamples(32, 1, live), new Batching(2, 16));
        }
        assertThat(live).hasSize(16);
        // Once the first gradients are there, nothing is added to them.
        assertThat(live.subList(1, 16)).containsOnly(live.get(1));
        assertThat(Tensor.live()).isLessThan(live.getFirst());
    }

    /** Each epoch takes ten seconds: a fourth one would exceed the limit. */
    @Test
    void learningTakesNoLongerThanItsRivalAllows() throws IOException {
        assertThat(epochs(Optional.empty(), Duration.ofSeconds(10), 20)).isEqualTo(3);
    }

    /** The first epoch decides; after a crash in the second one an epoch takes a second. */
    @Test
    void resumedLearningHasAsManyEpochs(@TempDir Path folder) throws IOException {
        Optional<Checkpointing> file = Optional.of(SmallTraining.checkpointing(folder, Duration.ofDays(1)));

        assertThatThrownBy(() -> epochs(file, Duration.ofSeconds(10), 1)).hasMessage("crash");
        assertThat(epochs(file, Duration.ofSeconds(1), 20)).isEqualTo(3);
    }

    /** The time of an epoch of which only the end was seen says nothing. */
    @Test
    void restOfFirstEpochDecidesNothing(@TempDir Path folder) throws IOException {
        Optional<Checkpointing> file = Optional.of(SmallTraining.checkpointing(folder, Duration.ZERO));

        assertThatThrownBy(() -> epochs(file, Duration.ofSeconds(10), 0)).hasMessage("crash");
        assertThat(epochs(file, Duration.ofSeconds(10), 20)).isEqualTo(3);
    }

    /**
     * Returns the number of epochs, which the display knows after the first one.
     *
     * @param crash epoch during which the process ends, in its first step
     */
    private static int epochs(Optional<Checkpointing> file, Duration epoch, int crash) throws IOException {
        long[] nanos = {0};
        int[] done = {0};
        int[] most = {0};
        TrainingContext context = TrainingContext.of(Device.CPU)
                .withCancellation(Cancellation.after(Duration.ofDays(1), () -> nanos[0]))
                .withListener(event -> {
                    if (event instanceof TrainEvent.Stepped step && step.epoch() == crash && step.step() > 1) {
                        throw new IllegalStateException("crash");
                    }
                    switch (event) {
                        case TrainEvent.StageStarted started -> most[0] = started.epochs();
                        case TrainEvent.EpochsLimited limited -> most[0] = limited.epochs();
                        default -> {}
                    }
                    if (event instanceof TrainEvent.EpochDone end) {
                        nanos[0] += epoch.toNanos();
                        done[0] = end.epoch() + 1;
                    }
                });
        context = file.map(context::withCheckpointing).orElse(context);
        try (Model model = model("average")) {
            TrainingStage stage = new TrainingStage(
                    1,
                    TrainableModel.head(model, false),
                    Recipes.first(20, 0.1),
                    context,
                    new SyntheticExamples(6, 1, new ArrayList<>()),
                    Targets.of(new Recipe.Loss(0, ClassWeights.NONE), new long[CLASSES]),
                    null);
            Rival rival = new Rival(0.5, 100, Duration.ofSeconds(35));
            try (Checkpointing.Checkpoint checkpoint =
                    context.checkpointing().find().orElse(null)) {
                Fit.run(stage, StageProgress.startOf(1, ValidationScore.NONE, 1), checkpoint, Optional.of(rival));
            }
        }
        assertThat(most[0]).isEqualTo(done[0]);
        return done[0];
    }

    @Test
    void checkpointsAreWrittenAfterEachInterval(@TempDir Path folder) throws IOException {
        long[] seconds = {-100};
        Checkpointing saver = SmallTraining.checkpointing(folder, Duration.ofSeconds(10))
                .timedBy(() -> Duration.ofSeconds(seconds[0]).toNanos());
        StageProgress position = StageProgress.startOf(1, ValidationScore.NONE, 1);
        try (Model model = model("average");
                StageState state = new StageState(
                        TrainableModel.head(model, false),
                        Recipes.standard().optimizer().create())) {
            List<Long> written = new ArrayList<>();
            for (; seconds[0] <= -65; seconds[0]++) {
                if (seconds[0] == -83) {
                    saver.save(position, state);
                } else {
                    saver.saveIfDue(position, state);
                }
                if (Files.deleteIfExists(saver.file().orElseThrow())) {
                    written.add(seconds[0]);
                }
            }
            assertThat(written).containsExactly(-90L, -83L, -73L);
        }
    }

    @Test
    void checkpointsAfterShortEpochsTakeATenthOfTheTime(@TempDir Path folder) throws IOException {
        long[] seconds = {0};
        Path file = folder.resolve("checkpoint");
        Checkpointing saver = new Checkpointing(file, "this", Duration.ofMinutes(5))
                .timedBy(() -> Duration.ofSeconds(seconds[0] + (Files.exists(file) ? 2 : 0)) // writing takes 2 s
                        .toNanos());
        try (Model model = model("average");
                StageState state = new StageState(
                        TrainableModel.head(model, false),
                        Recipes.standard().optimizer().create())) {
            List<Long> written = new ArrayList<>();
            for (; seconds[0] < 50; seconds[0]++) {
                long epochEnd = seconds[0];
                saver.saveAfterEpoch(StageProgress.startOf(1, ValidationScore.NONE, 1), state);
                if (Files.deleteIfExists(file)) {
                    written.add(epochEnd);
                    seconds[0] += 2;
                }
            }
            assertThat(written).containsExactly(0L, 22L, 44L);
        }
    }

    /** The slope of the root at 0 is 1/(2√ε), here 1e17; times a weight of the classifier it has no end. */
    @Test
    void nonFiniteGradientIsReportedBeforeTheStep() {
        try (Model model = model("bilinear/spd:4/triu/root:eps=1e-35")) {
            Parameter weight = model.headParameters().get("classifier.weight");
            try (Scope _ = Scope.open()) {
                weight.set(weight.value().mul(1e27));
            }
            byte[] before = bytes(model.headParameters());
            for (Batching batching : List.of(new Batching(4, 1), new Batching(2, 2))) {
                assertThatExceptionOfType(NonFiniteLossException.class)
                        .isThrownBy(() -> run(model, new SyntheticExamples(4, 0, new ArrayList<>()), batching))
                        .has(facts("gradient", "1", "1", "1", "0.100", "pooling.spd0.weight"));
                assertThat(bytes(model.headParameters())).isEqualTo(before);
            }
        }
    }

    private static byte[] bytes(ParameterSet parameters) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        parameters.all().forEach(parameter -> all.writeBytes(parameter.value().toBytes()));
        return all.toByteArray();
    }

    /** Their sum has no finite number either, yet each of them is one. */
    @Test
    void largeGradientsAreNotReportedAsInfinite() {
        try (Model model = model("average")) {
            for (double number : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
                try (EagerSteps.GradientSum sum = new EagerSteps.GradientSum()) {
                    assertThat(sum.nonFinite()).isEmpty();
                    sum.sums.put(model.headParameters().get("classifier.weight"), own(3e38));
                    assertThat(sum.nonFinite()).isEmpty();
                    Parameter bias = model.headParameters().get("classifier.bias");
                    sum.sums.put(bias, own(number));
                    assertThat(sum.nonFinite()).as("%s", number).contains(bias);
                }
            }
        }
    }

    private static Tensor own(double number) {
        try (Scope scope = Scope.open()) {
            Tensor tensor = Tensors.full(number, Shape.of(5), DType.F32, Device.CPU);
            scope.release(tensor);
            return tensor;
        }
    }
}
