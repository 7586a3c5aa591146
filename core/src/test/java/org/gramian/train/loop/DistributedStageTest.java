package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Loss.ClassWeights;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DistributedStageTest {
    private static final int CLASSES = 3;
    private static final int CROPS = 22;
    private static final Targets TARGETS =
            Targets.of(new Recipe.Loss(0.1, ClassWeights.BALANCED), new long[] {8, 7, 7});

    /** Several who hold a part of the crops each: those whose place leaves the same remainder. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Several(Model model, double[] numbers, int workers, boolean forgetful)
            implements DistributedStage.Workers {
        static Several of(Model model, int workers) {
            long size = CROPS * model.backbone().channels() * 4;
            double[] numbers = new SplittableRandom(1).doubles(size).toArray();
            return new Several(model, numbers, workers, false);
        }

        @Override
        public int count() {
            return CROPS;
        }

        @Override
        public int crops() {
            return 1;
        }

        @Override
        public Tensor rows(int[] places) {
            Tensor all = Tensors.of(numbers, Shape.of(CROPS, model.backbone().channels(), 2, 2), DType.F32);
            long[] wide = Arrays.stream(places).asLongStream().toArray();
            return all.select(0, Tensors.ofLongs(wide, Shape.of(wide.length)));
        }

        @Override
        public StepPart step(int[] places, Dropout dropout) {
            List<StepPart> parts = new ArrayList<>();
            for (int worker = forgetful ? 1 : 0; worker < workers; worker++) {
                int own = worker;
                int[] mine = Arrays.stream(places)
                        .filter(place -> place % workers == own)
                        .toArray();
                if (mine.length > 0) {
                    try (Scope _ = Scope.open()) {
                        parts.add(StepPart.of(
                                model,
                                new Minibatch(rows(mine), labels(mine)),
                                TARGETS,
                                new StepPart.Step(places.length, dropout),
                                mine));
                    }
                }
            }
            return StepPart.sum(parts);
        }

        static int[] labels(int[] places) {
            return Arrays.stream(places).map(place -> place % CLASSES).toArray();
        }

        @Override
        public boolean hasValidation() {
            return false;
        }

        @Override
        public ValidationScore validate() {
            throw new AssertionError("no validation");
        }

        /** The same crops as one machine goes through them. */
        Examples examples() {
            return new Examples() {
                @Override
                public int count() {
                    return CROPS;
                }

                @Override
                public int label(int place) {
                    return place % CLASSES;
                }

                @Override
                public Pass pass(int[] order, int batch, long epoch) {
                    return Pass.over(order, batch, places -> new Minibatch(rows(places), labels(places)));
                }
            };
        }
    }

    private static Model model(String pooling, boolean normalized) {
        Backbone backbone = Backbone.of("squeezenet", "fire2");
        SplittableRandom random = new SplittableRandom(5);
        ParameterSet none = ParameterSet.initialize(List.of(), random, DType.F32, Device.CPU);
        return Model.begin(backbone, none, new Head(Pooling.parse(pooling), CLASSES, normalized), random, Device.CPU);
    }

    private static TrainingContext<TrainEvent> context(Optional<Checkpointing> checkpointing) {
        TrainingContext<TrainEvent> plain = TrainingContext.of(Device.CPU);
        return checkpointing.map(plain::withCheckpointing).orElse(plain);
    }

    private static double[] numbers(Model model) {
        return model.headParameters().all().stream()
                .flatMapToDouble(parameter -> Arrays.stream(parameter.value().toDoubles()))
                .toArray();
    }

    private static double[] trained(int workers, double dropout) throws IOException {
        try (Model model = model("conv:6/rbf/spd:4/relu/triu/root/l2", false)) {
            Recipe recipe = Recipes.withDropout(Recipes.first(3, 0.5), dropout);
            new DistributedStage(model, recipe, Several.of(model, workers), context(Optional.empty())).run();
            return numbers(model);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.4})
    void numberOfWorkersChangesOnlyTheOrderOfSums(double dropout) throws IOException {
        double[] alone;
        try (Model model = model("conv:6/rbf/spd:4/relu/triu/root/l2", false)) {
            Recipe recipe = Recipes.withDropout(Recipes.first(3, 0.5), dropout);
            Steps.Source source =
                    new Steps.Source(Several.of(model, 1).examples(), labels -> TARGETS.rows(labels, Device.CPU));
            TrainingStage stage = new TrainingStage(
                    new TrainableModel(model, 1, 1, Recipe.Precision.F32),
                    recipe,
                    context(Optional.empty()),
                    CROPS,
                    null,
                    Steps.over(source));
            try (StageLoop loop = new StageLoop(stage, TrainingProgress.startOf(1, ValidationScore.NONE, 1))) {
                loop.train(null);
            }
            alone = numbers(model);
        }
        for (int workers : new int[] {1, 2, 5}) {
            double[] once = trained(workers, dropout);
            assertThat(once).containsExactly(alone, within(1e-5));
            assertThat(trained(workers, dropout)).containsExactly(once);
        }
    }

    @Test
    void copyIsCalledAfterEachCheckpoint(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("checkpoint.safetensors");
        List<Long> copies = new ArrayList<>();
        Checkpointing checkpointing =
                new Checkpointing(file, "this", Duration.ZERO, written -> copies.add(Files.size(written)));
        try (Model model = model("average", false)) {
            new DistributedStage(
                            model, Recipes.first(3, 0.5), Several.of(model, 2), context(Optional.of(checkpointing)))
                    .run();
        }
        assertThat(copies).hasSizeGreaterThanOrEqualTo(3).endsWith(Files.size(file)); // one an epoch at least
    }

    @Test
    void rangeTestWorksWithWorkers() throws IOException {
        List<TrainEvent> events = new ArrayList<>();
        double[][] models = new double[2][];
        Recipe auto =
                Recipes.of(Recipes.stage(5, 0.5, "constant", 0).withAutoRate(), Recipes.stage(0, 0, "constant", 0));
        try (Model model = model("average", false)) {
            TrainingContext<TrainEvent> context =
                    TrainingContext.<TrainEvent>of(Device.CPU).withListener(events::add);
            new DistributedStage(model, auto, Several.of(model, 2), context).run();
            models[0] = numbers(model);
        }
        List<TrainEvent.RateFound> found = events.stream()
                .filter(TrainEvent.RateFound.class::isInstance)
                .map(TrainEvent.RateFound.class::cast)
                .toList();
        assertThat(found).hasSize(1);
        assertThat(found.getFirst().result().points()).hasSizeGreaterThan(10);
        try (Model model = model("average", false)) {
            Recipe given = Recipes.first(5, found.getFirst().result().rate());
            new DistributedStage(model, given, Several.of(model, 2), context(Optional.empty())).run();
            models[1] = numbers(model);
        }
        assertThat(models[0]).containsExactly(models[1]);
    }

    @Test
    void missingFeaturesAreReported() {
        try (Model model = model("average", false)) {
            Several several = Several.of(model, 2);
            DistributedStage.Workers forgetful = new Several(model, several.numbers, 2, true);
            DistributedStage stage =
                    new DistributedStage(model, Recipes.first(1, 0.5), forgetful, context(Optional.empty()));

            assertThatIllegalStateException().isThrownBy(stage::run).has(facts("4"));
        }
    }

    @Test
    void nonFiniteLossOfAWorkerIsReported() throws IOException {
        try (Model model = model("average", false)) {
            Parameter weight = model.headParameters().get("classifier.weight");
            try (Scope _ = Scope.open()) {
                weight.set(weight.value().mul(Double.NaN));
            }
            Several several = Several.of(model, 2);
            DistributedStage stage =
                    new DistributedStage(model, Recipes.first(1, 0.5), several, context(Optional.empty()));

            assertThatThrownBy(stage::run)
                    .isInstanceOf(NonFiniteLossException.class)
                    .has(facts("loss", "1", "1", "1"))
                    .hasMessageContaining("classifier.weight");
            try (ObjectOutputStream out = new ObjectOutputStream(new ByteArrayOutputStream())) {
                out.writeObject(several.step(IntStream.range(0, 4).toArray(), Dropout.NONE));
            }
        }
    }

    @Test
    void recipesForOneMachineAreRefused() {
        Recipe recipe = Recipes.first(1, 0.5);
        Head normalized = new Head(Pooling.parse("average"), CLASSES, true);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> DistributedStage.requireSpreadable(recipe, normalized))
                .has(facts("batch"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DistributedStage.requireSpreadable(
                        Recipes.standard(), new Head(Pooling.parse("average"), CLASSES, false)))
                .has(facts("epoch"));
    }
}
