package org.gramian.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.gramian.backbone.Backbone;
import org.gramian.basis.Conformal;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.basis.Subsample;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.Proportion;
import org.gramian.evaluate.Proportion.Interval;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.evaluate.compare.PairedTest;
import org.gramian.evaluate.compare.TrainedOn;
import org.gramian.image.dataset.Sample;
import org.gramian.linear.LinearSolver;
import org.gramian.model.Head;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.OpenSet.KnownImages;
import org.gramian.pooling.Pooling;
import org.gramian.run.RunResult.FoldResult;
import org.gramian.run.config.TrainConfig;
import org.gramian.run.config.TrainConfig.Quality;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.Fit.StageOutcome;
import org.gramian.train.loop.HeadSearch;
import org.gramian.train.loop.History;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.Rival;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.loop.TrainingData;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.loop.TwoStageTraining;
import org.gramian.train.recipe.Recipe;

/** Trains and evaluates one fold, resuming from its checkpoint if present. */
final class FoldRun {
    /** Metric of a model card: accuracy on the validation set, where there is one. */
    private static final String VALIDATION = "validation-accuracy";

    /** A smaller difference of log losses is rounding: the selected head may be that of the first model. */
    private static final double LEAST_LOSS = 1e-4;

    private final RunPlan plan;
    private final FoldPlan fold;
    private final FoldFolder folder;
    private final FeatureExtraction extraction;
    private final Map<String, String> runOrigin;
    private final TrainingContext context;
    private boolean adopted;

    /** Whether the head was fitted to fewer images than the first model. */
    private boolean fewer;

    /** Validation set, or training images out of fold, under the first model of all images; empty without one. */
    private Optional<Evaluation> first = Optional.empty();

    /** Time in which the first model was evaluated and written. */
    private Duration ending = Duration.ZERO;

    FoldRun(
            RunPlan plan,
            FoldPlan fold,
            FoldFolder folder,
            FeatureExtraction extraction,
            Map<String, String> runOrigin,
            TrainingContext context) {
        this.plan = plan;
        this.fold = fold;
        this.folder = folder;
        this.extraction = extraction;
        this.runOrigin = runOrigin;
        this.context = context;
    }

    Optional<FoldResult> run() throws IOException {
        if (folder.isDone()) {
            folder.requireOrigin(folder.model(), origin(), plan.dataset().classes());
            folder.requireUndamaged();
            folder.finish(); // a killed run may have left a file
            return Optional.of(new FoldResult(
                    folder.path(),
                    folder.evaluation(),
                    folder.afterFirst(),
                    artifacts().complete(Optional.empty())));
        }
        TrainingContext training = context.withCheckpointing(
                        context.checkpointing().to(folder.checkpoint(), identity()))
                .withHistory(History.open(folder.history()));
        Recipe recipe = plan.config().recipe();
        boolean frozenFirst = recipe.solver().isPresent()
                && recipe.stage1().epochs() + recipe.stage2().epochs() > 0;
        boolean resumed = Files.exists(folder.frozen());
        if (resumed) {
            folder.requireOrigin(folder.frozen(), origin(), plan.dataset().classes());
        }
        if (context.cancellation().budget().isPresent()
                && !resumed
                && (plan.config().network().auto() || recipe.solver().isEmpty())
                && !Files.exists(folder.checkpoint())) {
            solveFirst(); // on all images: the result if the time ends before a better head is found
        }
        if (frozenFirst
                && !resumed) { // the time of solved heads is without that of features, which learned ones need too
            extraction.computePlanned("training features", context.threads(), context::measuring);
        }
        Duration begun = context.cancellation().elapsed();
        boolean searched = plan.config().network().auto() && !resumed;
        Optional<HeadSearch.Found> found = searched ? chooseHead(training) : Optional.empty();
        Optional<HeadSearch.Result> choice = found.map(HeadSearch.Found::result);
        Parts inTime = found.flatMap(HeadSearch.Found::cost).map(this::inTime).orElse(fold.parts());
        TrainingData fitted = data(inTime);
        fewer = inTime.training().size() < fold.parts().training().size();
        if (choice.isPresent() && recipe.solver().isPresent()) {
            recipe = recipe.withSolver(LinearSolver.parse(choice.get().best().classifier()));
        }
        Head head = choice.map(best -> plan.head(fold, Pooling.parse(best.best().pooling())))
                .orElseGet(() -> plan.head(fold));
        if (frozenFirst && !resumed) {
            solve(head, recipe.frozen(), fitted, training, (outcome, scores, model) -> { // a good model early
                Optional<KnownImages> known = scores.known().get();
                Measured measured = measured(outcome, scores);
                keepOutOfFold(scores);
                Duration solving = context.cancellation().elapsed().minus(begun);
                folder.keepFrozen(
                        measured.evaluation, measured.validation, model, card(outcome, measured, known), solving);
            });
        }
        try (Model model = InitialModel.model(
                frozenFirst ? plan.secondHead(fold, head) : head,
                plan.seed(),
                extraction.extractor().network())) {
            Duration before = context.cancellation().elapsed();
            Optional<Cancellation.Reason> early = frozenFirst
                    ? train(model, recipe.training(), data(fold.parts()), training, rival())
                    : train(model, recipe, fitted, training, Optional.empty());
            if (frozenFirst && !resumed && recipe.stage2().epochs() == 0) {
                Duration learning = context.cancellation().elapsed().minus(before);
                Duration solving = folder.solving().orElse(Duration.ZERO);
                context.send(new TrainEvent.HeadLearned(learning.toNanos() / 1e9, solving.toNanos() / 1e9));
            }
            if (early.filter(Cancellation.Reason.CANCELLED::equals).isPresent()) {
                if (Files.exists(folder.frozen())) {
                    folder.adoptFrozen(); // the best so far, until the run resumes
                }
                return Optional.empty();
            }
            if (early.isEmpty()) {
                folder.finish();
            }
            Optional<Cancellation.Reason> stopped =
                    artifacts().complete(adopted ? Optional.empty() : Optional.of(model));
            if (stopped.filter(Cancellation.Reason.OUT_OF_TIME::equals).isPresent()) {
                context.warn("the time budget is over: there is no gallery of " + QuotedText.text(fold.name())
                        + " in the report");
            }
            return Optional.of(
                    new FoldResult(folder.path(), folder.evaluation(), folder.afterFirst(), stopped.or(() -> early)));
        }
    }

    /**
     * Solves a classifier on average pooling and keeps it until there is a better model: the result of a run that is interrupted
     * or out of time before that.
     *
     * @return the time in which it was evaluated and written
     */
    Duration solveFirst() throws IOException {
        Backbone backbone = extraction.extractor().network().backbone();
        Pooling average = HeadSearch.baseline(backbone)
                .resolve(backbone, fold.parts().training().size());
        TrainingContext quiet = context.withListener(event -> {
            if (event instanceof TrainEvent.Task) {
                context.send(event);
            }
        });
        int classes = plan.dataset().classes().size();
        long pairs = fold.parts().training().stream()
                .collect(Collectors.groupingBy(Sample::label, Collectors.counting()))
                .values()
                .stream()
                .filter(count -> count > 1)
                .count();
        String solver = pairs == classes ? "lda" : "svm:C=10"; // of single images LDA knows no covariance
        solve(
                new Head(average, classes, false),
                plan.config().recipe().frozen().withSolver(LinearSolver.parse(solver)),
                data(fold.parts()),
                quiet,
                (outcome, scores, model) -> {
                    Duration begun = context.cancellation().elapsed();
                    Measured measured = measured(scores, outcome.classifier().flatMap(TrainEvent.Solved::calibration));
                    folder.keepFirstModel(measured.evaluation, model, card(outcome, measured, Optional.empty()));
                    first = measured.unseen;
                    ending = context.cancellation().elapsed().minus(begun);
                    context.send(new TrainEvent.FirstModel(
                            accuracy(measured.evaluation),
                            fold.parts().training().size(),
                            folder.model()));
                });
        return ending;
    }

    /** Reserves time to evaluate a head, and returns the images to which it can be fitted in the time that is left. */
    private Parts inTime(HeadSearch.Cost cost) {
        Cancellation cancellation = context.cancellation();
        Parts parts = fold.parts();
        int all = parts.training().size();
        if (cancellation.budget().isEmpty()) {
            return parts;
        }
        cancellation.reserve(ending.plus(
                cost.describing(parts.test().size() + parts.validation().size())));
        int most = cost.most(all, cancellation.remaining().orElseThrow());
        if (most < 2 * plan.dataset().classes().size()) {
            throw new InterruptedTrainingException(Cancellation.Reason.OUT_OF_TIME);
        }
        if (most == all) {
            return parts;
        }
        context.warn("the time budget suffices to fit the classifier to %d of %d training images".formatted(most, all));
        List<Integer> labels = parts.training().stream().map(Sample::label).toList();
        return new Parts(
                Subsample.stratified(labels, 1, plan.seed()).subList(0, most).stream()
                        .sorted()
                        .map(parts.training()::get)
                        .toList(),
                parts.validation(),
                parts.test());
    }

    @FunctionalInterface
    private interface SolvedCallback {
        void solved(StageOutcome outcome, TwoStageTraining.Scores scores, Model model) throws IOException;
    }

    private void solve(Head head, Recipe recipe, TrainingData data, TrainingContext training, SolvedCallback callback)
            throws IOException {
        TrainingContext unsaved = training.withCheckpointing(
                Checkpointing.every(training.checkpointing().interval()));
        try (Model model =
                InitialModel.model(head, plan.seed(), extraction.extractor().network())) {
            new TwoStageTraining(model, recipe, data, unsaved)
                    .run((outcome, scores) -> callback.solved(outcome, scores, model));
        }
    }

    /** Trains; a time budget that ends before the first step leaves the model on frozen features, if there is one. */
    private Optional<Cancellation.Reason> train(
            Model model, Recipe recipe, TrainingData data, TrainingContext training, Optional<Rival> rival)
            throws IOException {
        try {
            return new TwoStageTraining(model, recipe, data, training, rival)
                    .run((outcome, scores) -> keep(outcome, scores, model));
        } catch (InterruptedTrainingException stopped) {
            if (!Files.exists(folder.frozen())) {
                throw stopped;
            }
            if (stopped.reason() == Cancellation.Reason.OUT_OF_TIME) {
                adopt("the time budget ended before training began");
            }
            return Optional.of(stopped.reason());
        }
    }

    /** Returns the solved head as the rival of a learned one, which has as much time; empty if it may gain as long as it does. */
    private Optional<Rival> rival() throws IOException {
        Optional<Duration> limit = folder.solving();
        boolean free = plan.settings().get(TrainConfig.QUALITY) == Quality.BEST
                || plan.settings().wanted().has("stage1.epochs");
        return free || limit.isEmpty()
                ? Optional.empty()
                : folder.firstValidation().map(solved -> {
                    Proportion accuracy = solved.accuracy();
                    return new Rival(1 - accuracy.value(), accuracy.count(), limit.get());
                });
    }

    private void adopt(String reason) throws IOException {
        context.warn(reason + "; keeping the model with the frozen backbone");
        if (Files.exists(folder.frozen())) { // else the files of stage 1 are those of the fold
            folder.adoptFrozen();
        }
        adopted = true;
    }

    /** Selects the head by a search on the training images, once for a fold: a resumed run keeps its choice. Empty for too few images. */
    private Optional<HeadSearch.Found> chooseHead(TrainingContext training) throws IOException {
        Optional<HeadSearch.Result> kept = folder.candidates();
        Optional<LinearSolver> given = plan.settings().wanted().has("network.classifier")
                ? plan.config().recipe().solver()
                : Optional.empty();
        Optional<HeadSearch.Found> result = kept.isPresent()
                ? kept.map(before -> new HeadSearch.Found(before, Optional.empty()))
                : new HeadSearch(
                                data(fold.parts()),
                                training,
                                plan.dataset().classes().size(),
                                given,
                                plan.seed())
                        .run();
        if (kept.isEmpty() && result.isPresent()) {
            folder.keepCandidates(result.get().result());
        }
        result.ifPresent(found -> context.send(found.result().chosen()));
        return result;
    }

    private RunArtifacts artifacts() {
        return new RunArtifacts(folder, plan, fold.name(), data(fold.parts()), context);
    }

    private TrainingData data(Parts parts) {
        Map<String, Integer> duplicates = new HashMap<>();
        for (int group = 0; group < plan.duplicates().size(); group++) {
            for (int index : plan.duplicates().get(group)) {
                duplicates.put(plan.dataset().samples().get(index).name(), group);
            }
        }
        return new TrainingData(
                parts,
                plan.config().trainingCrops(),
                plan.config().testPlan().testing(),
                extraction,
                duplicates,
                Optional.empty());
    }

    /** @param unseen the validation set, or some training images out of fold */
    private record Measured(Evaluation evaluation, Optional<Evaluation> validation, Optional<Evaluation> unseen) {}

    private Measured measured(StageOutcome outcome, TwoStageTraining.Scores scores) {
        Measured measured = measured(scores, outcome.classifier().flatMap(TrainEvent.Solved::calibration));
        context.send(new TrainEvent.Evaluated(outcome.stage(), accuracy(measured.evaluation)));
        return measured;
    }

    static TrainEvent.TestAccuracy accuracy(Evaluation evaluation) {
        Interval interval = evaluation.accuracy().interval();
        return new TrainEvent.TestAccuracy(
                evaluation.accuracy().value(),
                interval.low(),
                interval.high(),
                evaluation.accuracy().count());
    }

    /** Calibrates on the validation set, after the solver of the classifier if that did. */
    private Measured measured(TwoStageTraining.Scores scores, Optional<String> calibrated) {
        Evaluation plain = evaluation(fold.parts().test(), scores.test().get());
        List<Sample> samples = fold.parts().validation();
        if (samples.isEmpty()) {
            Temperature none = calibrated.map(by -> new Temperature(1, by)).orElse(Temperature.NONE);
            Optional<Evaluation> outOfFold = Optional.of(scores.outOfFold())
                    .filter(found -> !found.isEmpty())
                    .map(found -> evaluation(List.copyOf(found.keySet()), List.copyOf(found.values())));
            return new Measured(plain.calibrated(none), Optional.empty(), outOfFold);
        }
        Evaluation validation = evaluation(samples, scores.validation().get());
        Temperature temperature = Temperature.fit(validation.predictions(), calibrated);
        Optional<Evaluation> unseen = Optional.of(validation.calibrated(temperature));
        return new Measured(plain.calibrated(temperature), unseen, unseen);
    }

    private Evaluation evaluation(List<Sample> samples, List<Logits> logits) {
        return new Evaluation(
                new Setting(
                        plan.config().get(TrainConfig.PROTOCOL).text(), fold.name(), plan.fingerprint(), plan.seed()),
                plan.dataset().classes(),
                IntStream.range(0, samples.size())
                        .mapToObj(i -> new ImagePrediction(
                                samples.get(i).name(), samples.get(i).label(), logits.get(i)))
                        .toList());
    }

    /**
     * Writes the model of a stage, unless the model before it stays. Models are compared by the log loss of calibrated probabilities on
     * the validation set, with the standard error of the paired difference: a fine-tuned model replaces the frozen one unless it is worse
     * by more than that, a learned head the solved one only if it is better by more.
     */
    private void keep(StageOutcome outcome, TwoStageTraining.Scores scores, Model model) throws IOException {
        if (outcome.result().isPresent()) {
            outcome.result().get().write(folder.path());
        }
        boolean competes = Files.exists(folder.frozen()); // the loser needs no distances
        Optional<KnownImages> known =
                competes ? Optional.empty() : scores.known().get();
        Measured measured = measured(outcome, scores);
        keepOutOfFold(scores);
        if (!competes && isWorseThanFirst(measured.unseen)) {
            folder.removeMark();
            adopted = true;
            return;
        }
        if (outcome.stage() == 1 && plan.config().recipe().stage2().epochs() > 0) {
            if (competes) {
                return; // the fine-tuned head competes with the solved one, whose evaluation stays
            }
            folder.keepFirst(measured.evaluation, measured.validation);
        } else if ((outcome.stage() == 2 || competes) && !replacesFrozen(outcome.stage(), measured.validation)) {
            return;
        }
        folder.keep(
                measured.evaluation,
                model,
                card(outcome, measured, competes ? scores.known().get() : known));
    }

    /** Compares a model with the first one on images that neither has seen; one of fewer training images must be better. */
    private boolean isWorseThanFirst(Optional<Evaluation> unseen) {
        if (first.isEmpty() || unseen.isEmpty()) {
            return false;
        }
        Set<String> names =
                unseen.get().predictions().stream().map(ImagePrediction::name).collect(Collectors.toSet());
        Evaluation all = first.get();
        Evaluation before = new Evaluation(
                all.setting(),
                all.classes(),
                all.predictions().stream()
                        .filter(one -> names.contains(one.name()))
                        .toList(),
                all.temperature());
        PairedTest.Gain gain = PairedTest.Gain.of(before, unseen.get());
        boolean worse = fewer ? !gain.isSignificant() : gain.isSignificantLoss() && gain.mean() < -LEAST_LOSS;
        if (worse) {
            context.warn(String.format(
                    Locale.ROOT,
                    "log loss of %d images %.3f, of the first model %.3f: %s by %.3f ± %.3f; keeping the first model",
                    names.size(),
                    unseen.get().calibration().logLoss(),
                    before.calibration().logLoss(),
                    gain.mean() < 0 ? "higher" : "lower",
                    Math.abs(gain.mean()),
                    gain.standardError()));
        }
        return worse;
    }

    private void keepOutOfFold(TwoStageTraining.Scores scores) throws IOException {
        if (!scores.outOfFold().isEmpty()) {
            EvaluationFile.write(
                    folder.path().resolve(EvaluationFile.OUT_OF_FOLD),
                    evaluation(
                            List.copyOf(scores.outOfFold().keySet()),
                            List.copyOf(scores.outOfFold().values())));
        }
    }

    /** Compares the trained with the simpler model on the validation set, and adopts the latter unless the former wins. */
    private boolean replacesFrozen(int stage, Optional<Evaluation> validation) throws IOException {
        Optional<Evaluation> first = folder.firstValidation();
        if (first.isEmpty() || validation.isEmpty()) {
            if (folder.afterFirst().isPresent()) {
                context.warn(
                        "the trained model is kept without a comparison and is not calibrated: there are no validation images");
            }
            return true;
        }
        Evaluation frozen = first.get();
        Evaluation tuned = validation.get();
        PairedTest.Gain gain = PairedTest.Gain.of(frozen, tuned);
        String figures = String.format(
                Locale.ROOT,
                "log loss of %d validation images %.3f trained, %.3f solved: %s by %.3f ± %.3f",
                tuned.predictions().size(),
                tuned.calibration().logLoss(),
                frozen.calibration().logLoss(),
                gain.mean() < 0 ? "higher" : "lower",
                Math.abs(gain.mean()),
                gain.standardError());
        boolean replaces = stage == 2 ? !gain.isSignificantLoss() : gain.isSignificant();
        if (replaces) {
            context.warn(figures + "; keeping the trained model");
        } else {
            adopt(figures);
        }
        return replaces;
    }

    private SequencedMap<String, String> origin() {
        SequencedMap<String, String> origin = division(plan, fold);
        origin.putAll(runOrigin);
        return origin;
    }

    /** Returns the provenance that follows from the split alone. */
    static SequencedMap<String, String> division(RunPlan plan, FoldPlan fold) {
        SequencedMap<String, String> origin = new LinkedHashMap<>();
        origin.put(TrainedOn.PROTOCOL, plan.config().get(TrainConfig.PROTOCOL).text());
        origin.put(TrainedOn.FOLD, fold.name());
        origin.put(TrainedOn.FINGERPRINT, plan.fingerprint().hex());
        origin.put("content", plan.content());
        origin.put(TrainedOn.SEED, Long.toString(plan.seed()));
        if (!plan.near().isEmpty()) {
            origin.put(TrainedOn.NEAR_DUPLICATES, TrainedOn.text(plan.near()));
        }
        origin.put(
                "images",
                "%d training, %d validation, %d test"
                        .formatted(
                                fold.parts().training().size(),
                                fold.parts().validation().size(),
                                fold.parts().test().size()));
        return origin;
    }

    /** @param known images that took no part in fitting, which calibrate the recognition of images of no class */
    private ModelCard card(StageOutcome outcome, Measured measured, Optional<KnownImages> known) {
        Evaluation evaluation = measured.evaluation;
        double temperature = evaluation.temperature().value();
        LinkedHashMap<String, Double> metrics = new LinkedHashMap<>();
        measured.validation.ifPresent(
                one -> metrics.put(VALIDATION, one.accuracy().value()));
        for (Metric metric : Metric.values()) {
            metrics.put(metric.key(), metric.of(evaluation));
        }
        if (known.isPresent()) {
            known.get().leftOutAuroc(temperature).ifPresent(auroc -> metrics.put(KnownImages.LEFT_OUT_AUROC, auroc));
        }
        SequencedMap<String, String> origin = origin();
        outcome.classifier().ifPresent(solved -> origin.put("classifier", solved.text()));
        origin.put(Temperature.CALIBRATION, evaluation.temperature().source());
        return new ModelCard(
                plan.dataset().classes(),
                extraction.extractor().network().preprocessing(),
                plan.config().testPlan(),
                temperature,
                origin,
                metrics,
                known.map(images -> images.calibrate(unknownRate(images), temperature)));
    }

    private double unknownRate(KnownImages images) {
        double rate = plan.config().get(TrainConfig.UNKNOWN);
        return plan.settings().wanted().has("network.unknown")
                ? rate
                : Conformal.reachable(rate, images.labels().size());
    }

    /** Returns a hash of everything that decides the course of training; configuration and weights are in the provenance. */
    private String identity() {
        StringBuilder all = new StringBuilder();
        all.append(runOrigin)
                .append(plan.fingerprint().hex())
                .append(plan.content())
                .append(plan.dataset().classes())
                .append(fold.name())
                .append('\n');
        for (List<Sample> part : List.of(
                fold.parts().training(), fold.parts().validation(), fold.parts().test())) {
            part.forEach(sample ->
                    all.append(sample.name()).append(' ').append(sample.box()).append('\n'));
            all.append('\n');
        }
        return Sha256.hex(Sha256.of(all.toString().getBytes(StandardCharsets.UTF_8)));
    }
}
