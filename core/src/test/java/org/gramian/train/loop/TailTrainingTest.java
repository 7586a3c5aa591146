package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.file.Safetensors;
import org.gramian.train.Optimizer.ParameterGroup;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Recipe;
import org.junit.jupiter.api.Test;

/** The tail of the backbone is part of the head, but frozen and fine-tuned with the backbone. */
class TailTrainingTest extends PaintedParts {
    /** Short enough for maps of 3×3. */
    private static final String TAIL = "conv:512/tail:network=squeezenet,layer=fire9";

    private static final String JOIN = "[conv:4/average+" + TAIL + "]/l2";

    TailTrainingTest() {
        super(5, 5);
    }

    private static SmallTraining training(Recipe recipe, Parts parts) {
        return SmallTraining.of(recipe, parts).with(JOIN);
    }

    /** Hashes of the model's tensors at the end of a stage. */
    private Map<String, String> tensors(Outcome outcome, int stage) throws IOException {
        byte[] model = Objects.requireNonNull(outcome.stages().get(stage));
        Path file = Files.write(folder.resolve("model.safetensors"), model);
        Map<String, String> all = new TreeMap<>();
        try (Arena arena = Arena.ofShared()) {
            Safetensors.read(file, arena)
                    .tensors()
                    .forEach((name, tensor) ->
                            all.put(name, tensor.data().asByteBuffer().hashCode() + " " + tensor.shape()));
        }
        return all;
    }

    private static boolean isTail(String name) {
        return name.startsWith("head.pooling.join.1.tail.");
    }

    @Test
    void tailIsFrozenInStageOneAndTrainedInStageTwo() throws IOException {
        Recipe recipe = Recipes.of(stage(2, 0.5, "constant", 0), stage(2, 0.05, "constant", 0));
        Outcome outcome = training(recipe, parts).run();
        Map<String, String> first = tensors(outcome, 1);
        Map<String, String> second = tensors(outcome, 2);
        Map<String, String> begun = tensors(training(Recipes.first(1, 0), parts).run(), 1);
        assertThat(begun.keySet()).anyMatch(TailTrainingTest::isTail);
        begun.forEach((name, bytes) -> {
            boolean head = name.startsWith("head.") && !isTail(name);
            assertThat(bytes.equals(first.get(name))).as(name + " in stage 1").isEqualTo(!head);
            assertThat(bytes.equals(second.get(name))).as(name + " in stage 2").isFalse();
        });
    }

    @Test
    void interruptionInEitherStageChangesNoByteOfTheModel() throws IOException {
        Recipe recipe = Recipes.of(stage(2, 0.5, "constant", 0), stage(2, 0.05, "constant", 0));
        Outcome whole = training(recipe, parts).run();
        int steps = whole.events(TrainEvent.Stepped.class).size();
        assertThat(steps).isGreaterThanOrEqualTo(4);
        for (int step : new int[] {1, steps - 1}) {
            Checkpointing checkpointing = SmallTraining.checkpointing(folder, Duration.ofDays(1));
            training(recipe, parts).brokenAfter(step, checkpointing);
            Outcome last = training(recipe, parts).run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
            assertThat(last.model())
                    .as("interrupted after step %d of %d", step, steps)
                    .isEqualTo(whole.model());
            Files.deleteIfExists(checkpointing.file().orElseThrow());
        }
    }

    @Test
    void tailHasTheLearningRateOfTheBackbone() {
        Backbone backbone = Backbone.of("squeezenet", "pool1");
        ParameterSet parameters =
                ParameterSet.initialize(backbone.parameters(), new SplittableRandom(1), DType.F32, Device.CPU);
        Head head = new Head(Pooling.parse(TAIL), 3, false);
        try (Model model = Model.begin(backbone, parameters, head, new SplittableRandom(1), Device.CPU)) {
            assertThat(rates(new TrainableModel(model, 2, 0.25, 1, Recipe.Precision.F32).groups(1)))
                    .hasSize(4)
                    .contains(
                            "0.25 " + List.copyOf(head.pretrained().keySet()),
                            "1.0 [pooling.conv.weight, pooling.conv.bias]",
                            "1.0 [classifier.weight, classifier.bias]")
                    .anyMatch(group -> group.startsWith("0.25 [conv1."));
            assertThat(rates(TrainableModel.head(model, true).groups(1e-4)))
                    .containsExactly(
                            "0.01 [pooling.conv.weight, pooling.conv.bias]",
                            "1.0E-4 [classifier.weight, classifier.bias]");
        }
    }

    private static List<String> rates(List<ParameterGroup> groups) {
        return groups.stream().map(group -> group.rate() + " " + names(group)).toList();
    }

    private static List<String> names(ParameterGroup group) {
        return group.parameters().all().stream().map(Parameter::name).toList();
    }
}
