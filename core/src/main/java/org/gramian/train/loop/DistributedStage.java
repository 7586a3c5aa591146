package org.gramian.train.loop;

import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.SplittableRandom;
import org.gramian.basis.EvenSample;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Scope;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.ValidationScore;

/**
 * Stage 1 of Algorithm 1 with its crops spread over many machines: each step's gradient is gathered from {@link HeadWorkers}, and
 * the (Riemannian) step taken here. Order of crops, learning rates, judging and checkpoints are those of {@link TwoStageTraining} on one
 * machine, so that both give the same parameters up to the order in which gradients are added.
 */
public final class DistributedStage {
    private final Model model;
    private final Recipe recipe;
    private final HeadWorkers workers;
    private final TrainingSession session;

    /**
     * Nothing is done yet.
     *
     * @param model with random new layers; it ends with the best parameters
     * @throws IllegalArgumentException if the recipe or the head cannot be trained like this
     */
    public DistributedStage(Model model, Recipe recipe, HeadWorkers workers, TrainingSession session) {
        requireSpreadable(recipe, model.head());
        this.model = model;
        this.recipe = recipe;
        this.workers = workers;
        this.session = session;
    }

    /**
     * Says what only one machine can train.
     *
     * @throws IllegalArgumentException if the recipe or the head asks for it
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
     * Trains, from the last checkpoint if there is one.
     *
     * @return why it stopped before its end; nothing if it came there
     * @throws InterruptedTrainingException if it stopped before there was a model
     * @throws NonFiniteLossException if the loss, or a gradient, is no number any more
     */
    public Optional<Cancellation.Reason> run() throws IOException {
        Optional<Checkpoint> found =
                session.keeper().isPresent() ? session.keeper().get().find() : Optional.empty();
        try (Checkpoint checkpoint = found.orElse(null)) {
            if (checkpoint == null) {
                fit();
            }
            StageLoop.Setup setup = new StageLoop.Setup(
                    new TrainableModel(model, 1, 1, Recipe.Precision.F32),
                    recipe,
                    workers.count(),
                    workers.judges() ? workers::judge : null,
                    (stage, optimizer, rates) -> new DistributedSteps(stage, workers, optimizer, rates));
            TrainingProgress start =
                    TrainingProgress.startOf(1, ValidationScore.NONE, checkpoint == null ? scale() : 1);
            try (StageLoop loop = new StageLoop(setup, start, session)) {
                return loop.train(checkpoint);
            }
        }
    }

    /** Fits what the pooling takes from data, to the first crop of some images. */
    private void fit() {
        Pooling pooling = model.head().pooling();
        if (Fitting.isNeeded(pooling)) {
            long images = workers.count() / workers.crops();
            int[] places = Arrays.stream(EvenSample.places(images, Fitting.images(pooling)))
                    .mapToInt(image -> Math.toIntExact(image * workers.crops()))
                    .toArray();
            try (Scope _ = Scope.open()) {
                Fitting.fit(
                        pooling,
                        workers.rows(places),
                        model.headParameters().under("pooling"),
                        new SplittableRandom(recipe.seed()));
            }
        }
    }

    private double scale() {
        return recipe.stage1().perLength()
                ? DescriptorLength.unitRate(
                        model,
                        workers.count(),
                        workers::rows,
                        recipe.optimizer().rule().momentum())
                : 1;
    }
}
