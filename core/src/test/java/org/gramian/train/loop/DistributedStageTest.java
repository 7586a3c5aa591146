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

    private static TrainingContext context(Optional<Checkpointing> checkpointing) {
        TrainingContext plain = TrainingContext.of(Device.CPU);
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
            TrainingStage stage = new TrainingStage(
                    1,
                    TrainableModel.head(model, false),
                    recipe,
                    context(Optional.empty()),
                    CROPS,
                    null,
                    Steps.over(Several.of(model, 1).examples(), TARGETS));
            Fit.run(stage, StageProgress.startOf(1, ValidationScore.NONE, 1), null);
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
                    .hasMessageContaining("class scores");
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
