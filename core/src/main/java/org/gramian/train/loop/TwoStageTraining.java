package org.gramian.train.loop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.basis.CountSketch;
import org.gramian.basis.Subsample;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.linear.ClassDistances;
import org.gramian.linear.LabelledRows;
import org.gramian.linear.LinearSolver;
import org.gramian.model.Engine;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.model.OpenSet.KnownClasses;
import org.gramian.model.OpenSet.KnownImages;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Solved;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.loop.Checkpointing.Checkpoint;
import org.gramian.train.loop.Fit.StageOutcome;
import org.gramian.train.loop.SolvedHead.Solution;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.loop.TrainingStage.Validator;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.ValidationScore;
import org.jspecify.annotations.Nullable;

/**
 * Two-stage training, Algorithm 1 of the paper: first the new layers on the features of a frozen backbone, then all layers.
 *
 * <p>A classifier that is fitted by a solver replaces both stages; see {@link Recipe#solver}.
 *
 * <p>The model begins with random new layers and ends with the parameters of the best validation score, or the last ones without a
 * validation set. The same recipe and data give the same bits on the CPU of one machine at one number of compute threads, with and
 * without interruptions; the number of decoding threads does not matter.
 */
public final class TwoStageTraining {
    /** Called at the end of a stage that was not cancelled; scores are computed on demand by the model of that stage. */
    @FunctionalInterface
    public interface StageCallback {
        void stageDone(StageOutcome outcome, Scores scores) throws IOException;
    }

    /**
     * Scores by the model at the end of a stage.
     *
     * @param outOfFold scores of training images by cross-validation of a solved classifier; empty if there are none
     * @param known images that took no part in fitting, with their distances from the classes, which are fitted and set on demand; empty if
     *     there are none
     */
    public record Scores(
            Supplier<List<Logits>> validation,
            Supplier<List<Logits>> test,
            Map<Sample, Logits> outOfFold,
            Supplier<Optional<KnownImages>> known) {}

    /** Training images to which the distances from the classes are fitted, at most: their covariance hardly changes with more. */
    private static final int MAX_KNOWN = 4000;

    private final Model model;
    private final Recipe recipe;
    private final TrainingData data;
    private final TrainingContext context;
    private final Targets targets;
    private final Optional<Rival> rival;

    public TwoStageTraining(Model model, Recipe recipe, TrainingData data, TrainingContext context) {
        this(model, recipe, data, context, Optional.empty());
    }

    /** @param rival of the head of stage 1 */
    public TwoStageTraining(
            Model model, Recipe recipe, TrainingData data, TrainingContext context, Optional<Rival> rival) {
        this.model = model;
        this.recipe = recipe;
        this.data = data;
        this.context = context;
        this.rival = rival;
        this.targets =
                Targets.of(recipe.loss(), data.parts().counts(model.head().classes()));
    }

    /** Trains the model, resuming from its checkpoint if present. */
    public Optional<Cancellation.Reason> run(StageCallback callback) throws IOException {
        try (Checkpoint checkpoint = context.checkpointing().find().orElse(null)) {
            if (checkpoint == null) {
                fitPooling();
            }
            if (recipe.solver().isPresent()) {
                solve(recipe.solver().get(), callback);
                return Optional.empty();
            }
            boolean fineTuning = checkpoint != null && checkpoint.progress().stage() == 2;
            ValidationScore score = ValidationScore.NONE;
            if (!fineTuning && recipe.stage1().epochs() > 0) {
                StageOutcome head = trainHead(checkpoint, callback);
                if (head.early().isPresent()) {
                    return head.early();
                }
                score = head.score();
            }
            return recipe.stage2().epochs() > 0
                    ? fineTune(fineTuning ? checkpoint : null, score, callback).early()
                    : Optional.empty();
        }
    }

    /** Fits the pooling to the first crop of some training images. */
    private void fitPooling() throws IOException {
        Pooling pooling = model.head().pooling();
        if (!Fitting.isNeeded(pooling)) {
            return;
        }
        List<Sample> some = data.some(Fitting.images(pooling));
        try (Scope _ = Scope.open();
                FeatureTable table =
                        features("features for fitting", some, data.testCrops().first())) {
            int[] all = IntStream.range(0, table.count()).toArray();
            String stages = String.join(", ", Fitting.stages(pooling));
            context.preparing(new TrainEvent.Task("fitting " + stages, 0, some.size()));
            Fitting.fit(
                    pooling,
                    table.rows(all),
                    model.headParameters().under("pooling"),
                    new SplittableRandom(recipe.seed()));
        }
    }

    /**
     * Solves the classifier in place of stage 1. No checkpoint is written: a resumed run solves it again.
     *
     * <p>The scores of the validation set are those of a classifier that has not seen it; the model is solved again on the
     * training and validation images together, with the values found before.
     */
    private void solve(LinearSolver solver, StageCallback callback) throws IOException {
        try (FeatureTable training = features("training features", data.parts().training(), data.trainingCrops());
                FeatureTable validation =
                        features("validation features", data.parts().validation(), data.testCrops())) {
            SolvedHead head = solvedHead();
            try (Solution first = head.solve(solver, training, targets)) {
                List<Logits> unseen = logits(validation);
                boolean again = !unseen.isEmpty() && data.given().isEmpty();
                try (Solution last = again ? solveAll(head, solver, first) : first) {
                    Optional<Solved> solved = Optional.of(last.solved());
                    callback.stageDone(
                            new StageOutcome(1, Optional.empty(), ValidationScore.NONE, Optional.empty(), solved),
                            new Scores(
                                    () -> unseen,
                                    this::testScores,
                                    first.outOfFold(),
                                    () -> fitKnown(head, first, last, unseen)));
                }
            }
        }
    }

    /** Fits the distances from the classes to all that the classifier was solved from, after those that unseen images are measured by. */
    private Optional<KnownImages> fitKnown(SolvedHead head, Solution first, Solution last, List<Logits> unseen) {
        head.fitKnown(first);
        if (unseen.isEmpty()) {
            return head.knownImages(first);
        }
        KnownImages known = validationImages(false, unseen);
        head.fitKnown(last);
        return Optional.of(known);
    }

    /** Solves the classifier on the training and validation images; a time budget that ends before it leaves the first solution. */
    private Solution solveAll(SolvedHead head, LinearSolver solver, Solution first) throws IOException {
        Parts parts = data.parts();
        List<Sample> all = Stream.concat(parts.training().stream(), parts.validation().stream())
                .toList();
        Targets weights = Targets.of(
                recipe.loss(),
                new Parts(all, List.of(), List.of()).counts(model.head().classes()));
        context.warn("the validation images calibrate the classifier and train in the last fit, on " + all.size()
                + " images");
        try (FeatureTable table = features("training features", all, data.trainingCrops())) {
            return head.solve(solver.fixed(first.solved().values()), table, weights);
        } catch (InterruptedTrainingException stopped) {
            if (stopped.reason() != Cancellation.Reason.OUT_OF_TIME) {
                throw stopped;
            }
            return first;
        }
    }

    private StageOutcome trainHead(@Nullable Checkpoint checkpoint, StageCallback callback) throws IOException {
        try (FeatureTable training = features("training features", data.parts().training(), data.trainingCrops());
                FeatureTable validation =
                        features("validation features", data.parts().validation(), data.testCrops())) {
            Supplier<List<Logits>> scores = () -> logits(validation);
            TrainingStage stage = new TrainingStage(
                    1,
                    TrainableModel.head(model, recipe.stage1().perLength()),
                    recipe,
                    context,
                    new Examples.Features(training),
                    targets,
                    validator(scores));
            boolean scaled = checkpoint == null && recipe.stage1().perLength(); // a checkpoint holds the scale
            double scale = scaled
                    ? new HeadInference(model, training)
                            .unitRate(recipe.optimizer().rule().momentum())
                    : 1;
            StageOutcome outcome =
                    Fit.run(stage, StageProgress.startOf(1, ValidationScore.NONE, scale), checkpoint, rival);
            // an SVM on the trained descriptors takes longer than the epochs
            if (outcome.early().isEmpty() && (rival.isEmpty() || !rival.get().isAheadOf(outcome.score()))) {
                outcome = refit(training, stage.validator(), outcome);
            }
            return report(
                    outcome, new Scores(scores, this::testScores, Map.of(), () -> fitKnown(false, scores)), callback);
        }
    }

    /** Solves the classifier again on the trained descriptors; after a checkpoint of the last epoch it gives the same bits. */
    private StageOutcome refit(FeatureTable training, @Nullable Validator validator, StageOutcome trained) {
        if (recipe.refit().isEmpty() || model.head().normalized()) {
            return trained;
        }
        try {
            return solvedHead().refit(recipe.refit().get(), training, targets, validator, trained);
        } catch (InterruptedTrainingException interrupted) { // the model is that of the epochs
            return new StageOutcome(
                    1, Optional.of(interrupted.reason()), trained.score(), trained.result(), Optional.empty());
        }
    }

    private StageOutcome fineTune(@Nullable Checkpoint checkpoint, ValidationScore initial, StageCallback callback)
            throws IOException {
        Supplier<List<Logits>> scores =
                reserving(imageScores("validation", data.parts().validation()));
        try (LoadedExamples examples = LoadedExamples.open(data, recipe, context)) {
            TrainingStage stage = new TrainingStage(
                    2, TrainableModel.allLayers(model, recipe), recipe, context, examples, targets, validator(scores));
            StageOutcome outcome = Fit.run(stage, StageProgress.startOf(2, initial, 1), checkpoint);
            return report(
                    outcome,
                    new Scores(
                            scores, imageScores("test", data.parts().test()), Map.of(), () -> fitKnown(true, scores)),
                    callback);
        }
    }

    /**
     * Fits the distances from the classes to descriptors of training images, and returns the validation images: a trained model has
     * seen the training images.
     */
    private Optional<KnownImages> fitKnown(boolean fineTuned, Supplier<List<Logits>> scores) {
        model.setKnown(Optional.empty());
        if (data.parts().validation().isEmpty()) {
            return Optional.empty();
        }
        List<Sample> training = data.parts().training();
        List<Sample> some =
                Subsample.stratified(training.stream().map(Sample::label).toList(), 1, recipe.seed()).stream()
                        .limit(MAX_KNOWN)
                        .sorted()
                        .map(training::get)
                        .toList();
        CountSketch sketch = CountSketch.of(
                model.head().pooling().descriptorSize(model.backbone().channels()));
        try (Scope _ = Scope.open()) {
            List<Tensor> rows = new ArrayList<>();
            describe(fineTuned, some, crops -> rows.add(KnownClasses.shortened(sketch, crops)));
            int crops = Math.toIntExact(rows.getFirst().size(0));
            int[] images =
                    IntStream.range(0, some.size() * crops).map(i -> i / crops).toArray();
            int[] labels =
                    Arrays.stream(images).map(image -> some.get(image).label()).toArray();
            LabelledRows labelled = LabelledRows.of(
                    Tensors.concat(rows, 0), labels, images, model.head().classes());
            model.setKnown(Optional.of(KnownClasses.of(sketch.descriptorSize(), ClassDistances.fit(labelled))));
            return Optional.of(validationImages(fineTuned, scores.get()));
        }
    }

    private KnownImages validationImages(boolean fineTuned, List<Logits> scores) {
        List<Sample> validation = data.parts().validation();
        List<float[][]> distances = new ArrayList<>();
        describe(
                fineTuned,
                validation,
                crops -> distances.add(model.known().orElseThrow().distances(crops)));
        return new KnownImages(validation.stream().map(Sample::label).toList(), scores, distances);
    }

    private void describe(boolean fineTuned, List<Sample> samples, Consumer<float[][]> sink) {
        try {
            data.describe(model, fineTuned, samples, context, (crops, _) -> sink.accept(crops));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private SolvedHead solvedHead() {
        return new SolvedHead(model, context, data, recipe.batching().batch());
    }

    private static StageOutcome report(StageOutcome outcome, Scores scores, StageCallback callback) throws IOException {
        if (outcome.early().isEmpty() || outcome.early().get() == Cancellation.Reason.OUT_OF_TIME) {
            callback.stageDone(outcome, scores);
        }
        return outcome;
    }

    private FeatureTable features(String task, List<Sample> samples, Crops crops) throws IOException {
        return data.features(task, samples, crops, context.threads(), context::preparing);
    }

    private List<Logits> testScores() {
        try (FeatureTable test = data.features(
                "test features", data.parts().test(), data.testCrops(), context.threads(), context::measuring)) {
            return logits(test);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Logits> logits(FeatureTable table) {
        return new HeadInference(model, table).logits(recipe.batching().batch());
    }

    private Supplier<List<Logits>> imageScores(String task, List<Sample> samples) {
        return () -> {
            List<Logits> all = new ArrayList<>();
            data.compute(model, samples, Engine.Rows.SCORES, context.threads(), (computed, index) -> {
                all.add(computed.logits());
                context.measuring(new TrainEvent.Task(task, index + 1L, samples.size()));
            });
            return all;
        };
    }

    /** Reserves time for the test set, and for fitting distances, as soon as the validation set has been scored once. */
    private Supplier<List<Logits>> reserving(Supplier<List<Logits>> scores) {
        AtomicBoolean reserved = new AtomicBoolean();
        return () -> {
            Cancellation cancellation = context.cancellation();
            Duration before = cancellation.elapsed();
            List<Logits> all = scores.get();
            if (!reserved.getAndSet(true)) {
                Parts parts = data.parts();
                int images = parts.test().size()
                        + Math.min(MAX_KNOWN, parts.training().size())
                        + parts.validation().size();
                Duration took = cancellation.elapsed().minus(before);
                cancellation.reserve(cancellation
                        .reserved()
                        .plus(took.multipliedBy(images)
                                .dividedBy(parts.validation().size())));
            }
            return all;
        };
    }

    private @Nullable Validator validator(Supplier<List<Logits>> scores) {
        List<Sample> validation = data.parts().validation();
        return validation.isEmpty()
                ? null
                : Validator.of(
                        scores, validation.stream().mapToInt(Sample::label).toArray());
    }
}
