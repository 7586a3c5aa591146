package org.gramian.train.loop;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import org.gramian.autodiff.Parameter;
import org.gramian.basis.EvenSample;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.ValidationScore;

/**
 * Stage 1 of Algorithm 1 with its crops on many machines: the gradient of each step is gathered from {@link Workers}, and the
 * (Riemannian) step is taken here. Order, learning rates, validation and checkpoints are those of {@link TwoStageTraining} on one
 * machine, so that both give the same parameters up to the order in which gradients are added.
 */
public final class DistributedStage {
    private final Model model;
    private final Recipe recipe;
    private final Workers workers;
    private final TrainingContext context;

    /**
     * Prepares the stage.
     *
     * @param model with random new layers; training ends with its best parameters
     * @throws IllegalArgumentException if the recipe or the head needs a single machine
     */
    public DistributedStage(Model model, Recipe recipe, Workers workers, TrainingContext context) {
        requireSpreadable(recipe, model.head());
        this.model = model;
        this.recipe = recipe;
        this.workers = workers;
        this.context = context;
    }

    /**
     * Checks that a head can be trained on many machines.
     *
     * @throws IllegalArgumentException if the recipe or the head needs a single machine
     */
    public static void requireSpreadable(Recipe recipe, Head head) {
        require(recipe.solver().isEmpty(), "the classifier softmax", "one solved in closed form");
        require(recipe.stage1().epochs() > 0, "at least 1 epoch of stage 1", "none");
        require(
                recipe.stage2().epochs() == 0,
                "no fine-tuning (0 epochs of stage 2)",
                recipe.stage2().epochs() + " epochs");
        require(
                !head.normalized(),
                "no batch normalization of the logits",
                "it, which needs the whole batch on one machine");
        require(head.pretrained().isEmpty(), "a head without pretrained layers", "one with the tail of the backbone");
    }

    private static void require(boolean fits, String expected, String found) {
        if (!fits) {
            throw new IllegalArgumentException(
                    "distributed training: expected " + expected + ", found " + found + "; train on one machine");
        }
    }

    /**
     * Trains the stage, resuming from its checkpoint if present.
     *
     * @return why it stopped early; empty if it came to its end
     * @throws InterruptedTrainingException if it stopped before anything was trained
     * @throws NonFiniteLossException if the loss or a gradient is NaN or infinite
     */
    public Optional<Cancellation.Reason> run() throws IOException {
        try (Checkpointing.Checkpoint checkpoint =
                context.checkpointing().find().orElse(null)) {
            if (checkpoint == null) {
                fit();
            }
            TrainingStage stage = new TrainingStage(
                    1,
                    TrainableModel.head(model, recipe.stage1().perLength()),
                    recipe,
                    context,
                    workers.count(),
                    workers.hasValidation() ? workers::validate : null,
                    GatheredSteps::new);
            StageProgress start = StageProgress.startOf(1, ValidationScore.NONE, checkpoint == null ? scale() : 1);
            return Fit.run(stage, start, checkpoint).early();
        }
    }

    /** Fits the pooling to the first crop of some images. */
    private void fit() {
        Pooling pooling = model.head().pooling();
        if (Fitting.isNeeded(pooling)) {
            long images = workers.count() / workers.crops();
            int[] indices = Arrays.stream(EvenSample.places(images, Fitting.images(pooling)))
                    .mapToInt(image -> Math.toIntExact(image * workers.crops()))
                    .toArray();
            try (Scope _ = Scope.open()) {
                Fitting.fit(
                        pooling,
                        workers.rows(indices),
                        model.headParameters().under("pooling"),
                        new SplittableRandom(recipe.seed()));
            }
        }
    }

    private double scale() {
        return recipe.stage1().perLength()
                ? new HeadInference(model, workers::rows)
                        .unitRate(workers.count(), recipe.optimizer().rule().momentum())
                : 1;
    }

    /** Steps whose gradients come from the workers. */
    private final class GatheredSteps implements Steps {
        private final TrainingStage stage;
        private final Optimizer optimizer;
        private final List<ParameterGroup> groups;
        private int[] order = {};
        private int next;

        GatheredSteps(TrainingStage stage, Optimizer optimizer, List<ParameterGroup> groups) {
            this.stage = stage;
            this.optimizer = optimizer;
            this.groups = groups;
        }

        @Override
        public void startEpoch(int[] indices, long epoch) {
            order = indices;
            next = 0;
        }

        @Override
        public StepResult step(StageProgress progress, IntToDoubleFunction learningRate) {
            double rate = learningRate.applyAsDouble(progress.step());
            int[] indices = Arrays.copyOfRange(order, next, Math.min(order.length, next + stage.stepSize()));
            next += indices.length;
            StepPart whole = workers.step(indices, stage.dropout(progress.epoch()));
            if (whole.nonFinite() != null) {
                throw new NonFiniteLossException(whole.nonFinite(), progress, rate);
            }
            if (whole.crops() != indices.length) {
                throw new IllegalStateException("expected gradients of " + indices.length + " crops, found those of "
                        + whole.crops() + "; features are missing");
            }
            try (Scope _ = Scope.open()) {
                optimizer.setLearningRate(rate);
                optimizer.step(groups, gradients(whole));
            }
            return new StepResult(1, progress.sums().plusSum(whole.loss(), whole.correct(), whole.crops()));
        }

        private Map<Parameter, Tensor> gradients(StepPart whole) {
            Map<Parameter, Tensor> gradients = new HashMap<>();
            whole.gradients().forEach((name, numbers) -> {
                Parameter parameter = model.headParameters().get(name);
                Tensor gradient = Tensors.copyOf(
                        MemorySegment.ofArray(numbers),
                        DType.F32,
                        parameter.spec().shape());
                gradients.put(parameter, gradient.to(model.device()));
            });
            return gradients;
        }

        @Override
        public void close() {}
    }

    /**
     * Workers that hold the features of training crops and compute gradients of the head on them: the machines of a cluster.
     *
     * <p>Index {@code i} is crop {@code i mod n} of image {@code i / n}, where each image has n crops, the first of which is the
     * first of its test crops.
     */
    public interface Workers {
        /** Returns the number of crops of all training images. */
        int count();

        /** Returns the number of crops of each image. */
        int crops();

        /** Returns features {@code [n, c, h, w]} of a few crops, float32 on the model's device, in the current scope. */
        Tensor rows(int[] indices);

        /**
         * Returns the sum of all parts of a step, by the current parameters of the head.
         *
         * @param dropout of their descriptors
         */
        StepPart step(int[] indices, Dropout dropout);

        /** Whether there is a validation set. */
        boolean hasValidation();

        /** Computes the score of the current model on the validation set. */
        ValidationScore validate();
    }
}
