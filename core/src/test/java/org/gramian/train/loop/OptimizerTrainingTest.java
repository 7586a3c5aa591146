package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.backbone.Backbone;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.testing.PaintedImages;
import org.gramian.train.AdamWOptions;
import org.gramian.train.ParameterGroup;
import org.gramian.train.StiefelOptions;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.OptimizerRecipe;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole trainings with AdamW, averaged weights and layer-wise decay. */
class OptimizerTrainingTest {
    private static final int STEPS = 6;
    private static final double RATE = 0.05;
    private static final double DECAY = 0.7;

    @TempDir
    private Path folder = Path.of("");

    private SmallTraining training(double ema) throws IOException {
        Recipe recipe = Recipes.of(stage(4, 0.05, "constant", 0), stage(0, 0, "constant", 0));
        Parts parts = SmallTraining.divide(PaintedImages.folders(folder.resolve("images" + ema), 5, 6, 7));
        OptimizerRecipe optimizer = new OptimizerRecipe(AdamWOptions.defaults(0), 1, ema);
        // Without a validation set the last epoch is kept.
        return SmallTraining.of(Recipes.with(recipe, optimizer), parts)
                .with(new Parts(parts.training(), List.of(), parts.test()));
    }

    /**
     * One batch of all images makes a step: the classifier on fixed descriptors follows {@code w ← w − α(m̂/(√v̂ + ε) + d·w)},
     * computed here in double precision with the gradient {@code (softmax(z) − y)ᵀx/n}; its bias does so without decay.
     */
    @Test
    void trainingTakesStepsOfAdamW() throws IOException {
        Parts parts = SmallTraining.divide(PaintedImages.folders(folder.resolve("images"), 5, 6, 7));
        Fixed start = classifier(parts, 1, 0);
        Fixed trained = classifier(parts, STEPS, RATE);
        AdamWByHand weight = new AdamWByHand(start.weight, DECAY);
        AdamWByHand bias = new AdamWByHand(start.bias, 0);
        for (int step = 1; step <= STEPS; step++) {
            double[][] gradients = start.gradients(weight.values, bias.values);
            weight.step(gradients[0], step);
            bias.step(gradients[1], step);
        }
        assertThat(trained.weight).usingComparatorWithPrecision(1e-4).containsExactly(weight.values);
        assertThat(trained.bias).usingComparatorWithPrecision(1e-4).containsExactly(bias.values);
        assertThat(distance(trained.weight, start.weight)).as("it moves").isGreaterThan(0.1);
    }

    private static double distance(double[] a, double[] b) {
        double most = 0;
        for (int i = 0; i < a.length; i++) {
            most = Math.max(most, Math.abs(a[i] - b[i]));
        }
        return most;
    }

    /** Parameters that Adam moves with decoupled weight decay (Loshchilov and Hutter, 2019). */
    private static final class AdamWByHand {
        private final double[] values;
        private final double decay;
        private final double[] first;
        private final double[] second;

        AdamWByHand(double[] start, double decay) {
            this.values = start.clone();
            this.decay = decay;
            this.first = new double[start.length];
            this.second = new double[start.length];
        }

        void step(double[] gradient, int step) {
            for (int i = 0; i < values.length; i++) {
                first[i] = 0.9 * first[i] + 0.1 * gradient[i];
                second[i] = 0.99 * second[i] + 0.01 * gradient[i] * gradient[i];
                double mean = first[i] / (1 - Math.pow(0.9, step));
                double root = Math.sqrt(second[i] / (1 - Math.pow(0.99, step)));
                values[i] -= RATE * (mean / (root + AdamWOptions.EPSILON) + decay * values[i]);
            }
        }
    }

    /** A classifier on the descriptors of a pooling that has nothing to train. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Fixed(double[] weight, double[] bias, List<float[]> rows, int[] labels) {
        /** Of the mean cross-entropy, by weight and bias. */
        double[][] gradients(double[] w, double[] b) {
            double[][] gradients = {new double[w.length], new double[b.length]};
            int size = w.length / b.length;
            for (int i = 0; i < labels.length; i++) {
                float[] x = rows.get(i);
                double[] p = new double[b.length];
                for (int c = 0; c < p.length; c++) {
                    p[c] = b[c];
                    for (int j = 0; j < size; j++) {
                        p[c] += w[c * size + j] * x[j];
                    }
                    p[c] = Math.exp(p[c]);
                }
                double sum = Arrays.stream(p).sum();
                for (int c = 0; c < p.length; c++) {
                    double error = (p[c] / sum - (c == labels[i] ? 1 : 0)) / labels.length;
                    gradients[1][c] += error;
                    for (int j = 0; j < size; j++) {
                        gradients[0][c * size + j] += error * x[j];
                    }
                }
            }
            return gradients;
        }
    }

    private static Fixed classifier(Parts parts, int epochs, double rate) throws IOException {
        AdamWOptions options = new AdamWOptions(0, 0.9, 0.99, DECAY, StiefelOptions.defaults());
        Recipe recipe = Recipes.change(Recipes.first(epochs, rate), draft -> {
            draft.optimizer = new OptimizerRecipe(options);
            draft.batching = new Recipe.Batching(parts.training().size(), 1);
        });
        List<Fixed> found = new ArrayList<>();
        SmallTraining.of(recipe, new Parts(parts.training(), List.of(), parts.test()))
                .with("bilinear/triu/root/l2")
                .run((model, material, context) -> {
                    List<float[]> rows = new ArrayList<>();
                    material.describe(model, false, parts.training(), context, (_, crops) -> rows.add(crops[0]));
                    found.add(new Fixed(
                            model.headParameters()
                                    .get("classifier.weight")
                                    .value()
                                    .toDoubles(),
                            model.headParameters()
                                    .get("classifier.bias")
                                    .value()
                                    .toDoubles(),
                            rows,
                            parts.training().stream().mapToInt(Sample::label).toArray()));
                });
        return found.getFirst();
    }

    /** A decay next to 0 averages over the last step alone: the model is the one without averages, up to rounding. */
    @Test
    void theModelHasTheAveragedWeights() throws IOException {
        float[] plain = training(0).run().numbers();
        float[] last = training(1e-30).run().numbers();
        float[] averaged = training(0.9).run().numbers();
        assertThat(last).hasSameSizeAs(plain);
        double most = 0;
        for (int i = 0; i < plain.length; i++) {
            assertThat(last[i]).as("number %d", i).isCloseTo(plain[i], within(1e-6f));
            most = Math.max(most, Math.abs(averaged[i] - plain[i]));
        }
        assertThat(most).as("an average over ten steps differs").isGreaterThan(5e-3);
    }

    /** Averages serve validation and the model; the steps go on from the trained weights. */
    @Test
    void averagingDoesNotChangeTheSteps() throws IOException {
        List<EpochDone> plain = training(0).run().events(EpochDone.class);
        List<EpochDone> averaged = training(0.9).run().events(EpochDone.class);
        assertThat(averaged.stream().map(EpochDone::loss).toList())
                .isEqualTo(plain.stream().map(EpochDone::loss).toList());
    }

    /** Time is over before the first epoch is: the model has the averages of the steps so far. */
    @Test
    void trainingOutOfTimeInItsFirstEpochHasAveragedWeights() throws IOException {
        float[][] models = new float[2][];
        int place = 0;
        for (double ema : new double[] {0, 0.9}) {
            SmallTraining training = training(ema);
            long[] now = {0};
            Outcome outcome = training.run(
                    event -> now[0] += event instanceof Stepped ? 1 : 0,
                    Cancellation.after(Duration.ofNanos(1), () -> now[0]),
                    Optional.empty());
            assertThat(outcome.early()).hasValue(Cancellation.Reason.OUT_OF_TIME);
            models[place++] = outcome.numbers();
        }
        assertThat(models[1]).isNotEqualTo(models[0]);
    }

    @Test
    void layerDecayLowersTheRateOfEarlierStages() {
        Backbone backbone = Backbone.of("squeezenet", "fire3");
        SplittableRandom random = new SplittableRandom(5);
        ParameterSet parameters = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
        Head head = new Head(Pooling.parse("average"), 3, false);
        try (Model model = Model.begin(backbone, parameters, head, random, Device.CPU)) {
            TrainableModel trainee = new TrainableModel(model, 2, 0.5, 0.1, 1, Recipe.Precision.F32);
            Map<String, Double> rates = new HashMap<>();
            List<Parameter> moved = new ArrayList<>();
            for (ParameterGroup group : trainee.groups(1)) {
                assertThat(group.decay()).isEqualTo(1);
                group.parameters().all().forEach(parameter -> {
                    rates.put(parameter.name(), group.rate());
                    moved.add(parameter);
                });
            }
            assertThat(moved)
                    .doesNotHaveDuplicates()
                    .containsExactlyInAnyOrderElementsOf(trainee.parameters().values().stream()
                            .filter(parameter -> parameter.spec().role() != Role.FITTED)
                            .toList());
            rates.forEach((name, rate) -> assertThat(rate)
                    .as(name)
                    .isCloseTo(
                            name.startsWith("classifier")
                                    ? 1
                                    : backbone.parameterNames().get(0).contains(name)
                                            ? 0.005
                                            : backbone.parameterNames().get(1).contains(name) ? 0.05 : 0.5,
                            within(1e-12)));
            assertThat(backbone.parameterNames()).hasSize(3); // conv1, fire2, fire3
            assertThat(rates.values()).contains(0.5, 1.0);
            assertThat(new TrainableModel(model, 2, 0.5, 1, 1, Recipe.Precision.F32).groups(1))
                    .hasSize(3);
        }
    }
}
