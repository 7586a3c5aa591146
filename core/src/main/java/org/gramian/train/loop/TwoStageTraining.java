package org.gramian.train.loop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.dataset.Sample;
import org.gramian.linear.LinearSolver;
import org.gramian.model.Engine;
import org.gramian.model.InferencePipeline;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.pooling.Fitting;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.ValidationScore;
import org.jspecify.annotations.Nullable;

/**
 * Algorithm 1 of the paper: first the new layers on a frozen backbone, through features that are computed once; then all
 * layers together.
 *
 * <p>A classifier that is solved for takes the place of the first, and there is no second; see {@link Recipe#solver}.
 *
 * <p>The model begins with random new layers and ends with the best parameters that held-back images saw, or the last
 * ones where none are held back. The same recipe and material give the same bits on the processor of one machine at one
 * number of threads, whether or not there was a break; the threads that decode play no part.
 */
public final class TwoStageTraining {
    /** Told when a stage is over; scores are computed when asked for, by the model as the stage left it. */
    @FunctionalInterface
    public interface StageEnd {
        void stageDone(int stage, Scores scores) throws IOException;
    }

    /**
     * Scores by the model at the end of a stage.
     *
     * @param heldBack of the images that judged it; none if there were none
     * @param test of the test images
     */
    public record Scores(ImageScores heldBack, ImageScores test) {}

    /** How a stage ended: early, or with a model of that worth. */
    private record Ended(Optional<Cancellation.Reason> early, ValidationScore worth) {}

    private final Model model;
    private final Recipe recipe;
    private final TrainingData material;
    private final TrainingSession session;
    private final Targets targets;

    /**
     * Nothing is done yet.
     *
     * @param model with random new layers; its backbone has the weights that the material's features are made with
     * @throws IllegalArgumentException if a classifier is to be solved for and to be trained, too
     */
    public TwoStageTraining(Model model, Recipe recipe, TrainingData material, TrainingSession session) {
        if (recipe.solver().isPresent()
                && recipe.stage1().epochs() + recipe.stage2().epochs() > 0) {
            throw new IllegalArgumentException(
                    "a classifier solved in closed form is not trained by epochs: expected 0 epochs, found "
                            + recipe.stage1().epochs() + " and "
                            + recipe.stage2().epochs());
        }
        this.model = model;
        this.recipe = recipe;
        this.material = material;
        this.session = session;
        this.targets =
                Targets.of(recipe.loss(), material.parts().counts(model.head().classes()));
    }

    /**
     * Trains, from the last checkpoint if there is one.
     *
     * @return why it stopped before its end; nothing if it came there
     * @throws InterruptedTrainingException if it was asked to stop while nothing was being trained, or its time was over
     *     before the first step: then there is no model
     * @throws NonFiniteLossException if the loss, or a gradient, is no number any more
     */
    public Optional<Cancellation.Reason> run(StageEnd ends) throws IOException {
        Optional<Checkpoint> found =
                session.keeper().isPresent() ? session.keeper().get().find() : Optional.empty();
        try (Checkpoint checkpoint = found.orElse(null)) {
            if (checkpoint == null) {
                fit();
            }
            if (recipe.solver().isPresent()) {
                solve(recipe.solver().get(), ends);
                return Optional.empty();
            }
            boolean again = checkpoint != null && checkpoint.position().stage() == 2;
            ValidationScore worth = ValidationScore.NONE;
            if (!again && recipe.stage1().epochs() > 0) {
                Ended first = first(checkpoint, ends);
                if (first.early.isPresent()) {
                    return first.early;
                }
                worth = first.worth;
            }
            return recipe.stage2().epochs() > 0
                    ? second(again ? checkpoint : null, worth, ends).early
                    : Optional.empty();
        }
    }

    /** Fits what the pooling takes from data, to the first crop of some training images. */
    private void fit() throws IOException {
        if (!Fitting.isNeeded(model.head().pooling())) {
            return;
        }
        List<Sample> some = material.some(Fitting.images(model.head().pooling()));
        try (Scope _ = Scope.open();
                FeatureTable table = material.features(
                        "features for fitting", some, material.testCrops().first(), session::preparing)) {
            int[] all = IntStream.range(0, table.count()).toArray();
            String stages = String.join(", ", Fitting.stages(model.head().pooling()));
            session.preparing(new TrainEvent.Collecting("fitting " + stages, 0, some.size()));
            Fitting.fit(
                    model.head().pooling(),
                    table.rows(all),
                    model.headParameters().under("pooling"),
                    new SplittableRandom(recipe.seed()));
        }
    }

    /** Solves the classifier in place of stage 1. No checkpoint is written: after a break it is solved again. */
    private void solve(LinearSolver solver, StageEnd ends) throws IOException {
        TrainingData.Parts parts = material.parts();
        try (FeatureTable training = material.features(
                        "training features", parts.training(), material.trainingCrops(), session::preparing);
                FeatureTable heldBack = material.features(
                        "validation features", parts.heldBack(), material.testCrops(), session::preparing)) {
            new SolvedHead(model, session, material)
                    .solve(solver, training, targets, recipe.batching().batch());
            ends.stageDone(1, new Scores(scores(heldBack), this::scoresOfTestFeatures));
        }
    }

    private Ended first(@Nullable Checkpoint checkpoint, StageEnd ends) throws IOException {
        TrainingData.Parts parts = material.parts();
        try (FeatureTable training = material.features(
                        "training features", parts.training(), material.trainingCrops(), session::preparing);
                FeatureTable heldBack = material.features(
                        "validation features", parts.heldBack(), material.testCrops(), session::preparing)) {
            ImageScores judging = scores(heldBack);
            StageLoop.Setup setup = new StageLoop.Setup(
                    new TrainableModel(model, 1, 1, Recipe.Precision.F32),
                    recipe,
                    training.count(),
                    judge(judging),
                    Steps.over(new Steps.Source(new FeatureExamples(training), this::targets)));
            boolean scaled = checkpoint == null && recipe.stage1().perLength(); // a checkpoint knows it
            double scale = scaled
                    ? DescriptorLength.unitRate(
                            model,
                            training.count(),
                            training::rows,
                            recipe.optimizer().rule().momentum())
                    : 1;
            return stage(
                    setup,
                    checkpoint,
                    TrainingProgress.startOf(1, ValidationScore.NONE, scale),
                    worth -> refit(training, setup.judge(), worth),
                    () -> ends.stageDone(1, new Scores(judging, this::scoresOfTestFeatures)));
        }
    }

    /** Solves the classifier again on the trained descriptors; a checkpoint of the last epoch leads to the same bits. */
    private ValidationScore refit(FeatureTable training, @Nullable Validator judge, ValidationScore trained) {
        if (recipe.refit().isEmpty() || model.head().normalized()) {
            return trained;
        }
        return new SolvedHead(model, session, material)
                .refit(
                        recipe.refit().get(),
                        training,
                        targets,
                        recipe.batching().batch(),
                        judge,
                        trained);
    }

    private List<Logits> scoresOfTestFeatures() {
        try (FeatureTable test =
                material.features("test features", material.parts().test(), material.testCrops(), session::measuring)) {
            return scores(test).compute();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Tensor targets(int[] labels) {
        return targets.rows(labels, model.device());
    }

    private ImageScores scores(FeatureTable table) {
        return ImageScores.ofFeatures(model, table, recipe.batching().batch());
    }

    private Ended second(@Nullable Checkpoint checkpoint, ValidationScore worth, StageEnd ends) throws IOException {
        TrainingData.Parts parts = material.parts();
        ImageScores judging = scores("judging", parts.heldBack());
        try (LoadedExamples examples = LoadedExamples.open(material, recipe, session, model.device())) {
            TrainableModel trainee = new TrainableModel(
                    model, 2, recipe.stage2().backboneRate(), recipe.stage2().layerDecay(), recipe.precision());
            StageLoop.Setup setup = new StageLoop.Setup(
                    trainee,
                    recipe,
                    examples.count(),
                    judge(judging),
                    Steps.over(new Steps.Source(examples, this::targets)));
            return stage(
                    setup,
                    checkpoint,
                    TrainingProgress.startOf(2, worth, 1),
                    tuned -> tuned,
                    () -> ends.stageDone(2, new Scores(judging, scores("testing", parts.test()))));
        }
    }

    private ImageScores scores(String task, List<Sample> samples) {
        Prefetch prefetch = new Prefetch(InferencePipeline.DEFAULT_BATCH, material.threads(), 3);
        InferencePipeline pipeline =
                new InferencePipeline(Engine.of(model), material.rendering(material.testCrops()), prefetch);
        return ImageScores.ofImages(
                pipeline, samples, done -> session.measuring(new TrainEvent.Collecting(task, done, samples.size())));
    }

    private @Nullable Validator judge(ImageScores judging) {
        List<Sample> heldBack = material.parts().heldBack();
        return heldBack.isEmpty()
                ? null
                : Validator.of(
                        judging, heldBack.stream().mapToInt(Sample::label).toArray());
    }

    /** What follows a stage. */
    private interface After {
        void run() throws IOException;
    }

    /**
     * Trains a stage.
     *
     * @param last step of a stage that came to its end, from the judgement of its model to that of the model it leaves
     * @param after what follows, unless training was interrupted
     */
    private Ended stage(
            StageLoop.Setup setup,
            @Nullable Checkpoint checkpoint,
            TrainingProgress start,
            UnaryOperator<ValidationScore> last,
            After after)
            throws IOException {
        Ended ended;
        try (StageLoop loop = new StageLoop(setup, start, session)) {
            Optional<Cancellation.Reason> early = loop.train(checkpoint);
            ended = new Ended(early, loop.position().best());
        }
        if (ended.early.isEmpty()) {
            try {
                ended = new Ended(Optional.empty(), last.apply(ended.worth));
            } catch (InterruptedTrainingException stopped) {
                ended = new Ended(Optional.of(stopped.reason()), ended.worth); // the model is as the epochs left it
            }
        }
        if (ended.early.isEmpty() || ended.early.get() == Cancellation.Reason.OUT_OF_TIME) {
            after.run();
        }
        return ended;
    }
}
