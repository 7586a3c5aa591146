package org.gramian.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Metric;
import org.gramian.evaluate.ImagePrediction;
import org.gramian.evaluate.Setting;
import org.gramian.evaluate.Temperature;
import org.gramian.evaluate.TrainedOn;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Head;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.CheckpointPolicy;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.LearningRateFinder;
import org.gramian.train.loop.PoolingRace;
import org.gramian.train.loop.TrainEvent.EpochDone;
import org.gramian.train.loop.TrainEvent.RateFound;
import org.gramian.train.loop.TrainEvent.Refitted;
import org.gramian.train.loop.TrainEvent.Solved;
import org.gramian.train.loop.TrainEvent.StageDone;
import org.gramian.train.loop.TrainingData;
import org.gramian.train.loop.TrainingSession;
import org.gramian.train.loop.TwoStageTraining;
import org.gramian.train.recipe.Recipe;

/** Trains and measures one fold, or goes on where it was left. */
final class FoldRun {
    /** Metric of a model card: accuracy on the validation set, where there is one. */
    private static final String VALIDATION = "validation-accuracy";

    private final RunPlan plan;
    private final FoldPlan fold;
    private final FoldFolder folder;
    private final Surround surround;
    private Optional<Solved> solved = Optional.empty();
    private boolean adopted;

    /** What a fold shares with others. */
    record Surround(
            FeatureExtraction extraction,
            int threads,
            Cancellation breaks,
            Duration keepEvery,
            Map<String, String> origin,
            Consumer<RunEvent> events) {}

    FoldRun(RunPlan plan, FoldPlan fold, FoldFolder folder, Surround surround) {
        this.plan = plan;
        this.fold = fold;
        this.folder = folder;
        this.surround = surround;
    }

    /** Nothing where it was asked to stop before there was a model. */
    Optional<FoldResult> run() throws IOException {
        if (folder.isDone()) {
            folder.requireOrigin(folder.model(), origin(), plan.dataset().classes());
            return Optional.of(new FoldResult(
                    folder.path(),
                    folder.evaluation(),
                    folder.afterFirst(),
                    showcase().complete(Optional.empty())));
        }
        CheckpointPolicy keeper = new CheckpointPolicy(folder.checkpoint(), identity(), surround.keepEvery);
        History history = History.open(folder.history());
        Optional<TensorBoardLog> board = board(history);
        TrainingSession session = new TrainingSession(
                event -> {
                    switch (event) {
                        case EpochDone done -> keeping(() -> history.add(done));
                        case StageDone done -> keeping(() -> result(done).write(folder.path()));
                        case RateFound found -> keeping(() -> folder.keepRateTest(found.result()));
                        case Solved found -> solved = Optional.of(found);
                        case Refitted refit -> keeping(() -> refitted(refit));
                        default -> {}
                    }
                    board.ifPresent(log -> keeping(() -> log.accept(event)));
                    surround.events.accept(new RunEvent.Training(event));
                },
                surround.breaks,
                Optional.of(keeper));
        Recipe recipe = plan.config().recipe();
        boolean frozenFirst = recipe.solver().isPresent() && recipe.stage2().epochs() > 0;
        boolean resumed = Files.exists(folder.frozen());
        if (resumed) {
            folder.requireOrigin(folder.frozen(), origin(), plan.dataset().classes());
        }
        Head head =
                plan.config().network().auto() && !resumed ? plan.head(fold, choosePooling(session)) : plan.head(fold);
        if (frozenFirst && !resumed) {
            solveFrozen(head, recipe.frozen(), session);
        }
        try (Model model = InitialModel.model(
                frozenFirst ? plan.fineTunedHead(fold, head) : head,
                plan.seed(),
                surround.extraction.extractor().network())) {
            Optional<Cancellation.Reason> early = train(model, frozenFirst ? recipe.fineTuning() : recipe, session);
            if (early.filter(Cancellation.Reason.ASKED::equals).isPresent()) {
                return Optional.empty();
            }
            if (early.isEmpty()) {
                keeper.remove();
                Files.deleteIfExists(folder.frozen()); // last: without it the fold counts as finished
            }
            Optional<Cancellation.Reason> stopped =
                    showcase().complete(adopted ? Optional.empty() : Optional.of(model));
            if (stopped.filter(Cancellation.Reason.OUT_OF_TIME::equals).isPresent()) {
                surround.events.accept(new RunEvent.Remark("the time budget is over: there is no gallery of "
                        + QuotedText.text(fold.name()) + " in the report"));
            }
            return Optional.of(
                    new FoldResult(folder.path(), folder.evaluation(), folder.afterFirst(), stopped.or(() -> early)));
        }
    }

    private Optional<TensorBoardLog> board(History history) {
        return plan.config().tensorboard()
                ? Optional.of(new TensorBoardLog(
                        folder.path(), !fold.parts().heldBack().isEmpty(), InstantSource.system(), history.epochs()))
                : Optional.empty();
    }

    /** Solves a classifier on frozen features before anything is fine-tuned: a good answer first. */
    private void solveFrozen(Head head, Recipe recipe, TrainingSession session) throws IOException {
        TrainingSession unkept = new TrainingSession(session.events(), session.breaks(), Optional.empty());
        try (Model model = InitialModel.model(
                head, plan.seed(), surround.extraction.extractor().network())) {
            new TwoStageTraining(model, recipe, material(), unkept).run((stage, scores) -> {
                Measured measured = measured(scores);
                surround.events.accept(new RunEvent.Measured(stage, measured.evaluation));
                folder.keepFrozen(measured.evaluation, model, card(measured));
            });
        }
    }

    /** Trains; a budget that ends before the first step leaves the model on frozen features, if there is one. */
    private Optional<Cancellation.Reason> train(Model model, Recipe recipe, TrainingSession session)
            throws IOException {
        try {
            return new TwoStageTraining(model, recipe, material(), session)
                    .run((stage, scores) -> keep(stage, measured(scores), model));
        } catch (InterruptedTrainingException stopped) {
            if (stopped.reason() != Cancellation.Reason.OUT_OF_TIME || !Files.exists(folder.frozen())) {
                throw stopped;
            }
            adopt("the time budget ended before fine-tuning began");
            return Optional.of(stopped.reason());
        }
    }

    private void adopt(String reason) throws IOException {
        surround.events.accept(new RunEvent.Remark(reason + "; keeping the model with the frozen backbone"));
        folder.adoptFrozen();
        adopted = true;
    }

    /** Chooses the pooling by a race on the training images, once for a fold: a resumed run keeps its choice. */
    private Pooling choosePooling(TrainingSession session) throws IOException {
        Optional<PoolingRace.Result> kept = folder.poolings();
        PoolingRace.Result result = kept.isPresent()
                ? kept.get()
                : new PoolingRace(
                                material(),
                                session,
                                plan.dataset().classes().size(),
                                plan.config().recipe().solver(),
                                plan.seed())
                        .run();
        if (kept.isEmpty()) {
            folder.keepPoolings(result);
        }
        surround.events.accept(new RunEvent.PoolingChosen(result));
        return Pooling.parse(result.best().pooling());
    }

    /** For the end, when there is nothing to be kept for a break any more; it ends with the whole time budget. */
    private RunArtifacts showcase() {
        TrainingSession session = new TrainingSession(
                event -> {
                    if (surround.breaks.isOver()) {
                        throw new InterruptedTrainingException(Cancellation.Reason.OUT_OF_TIME);
                    }
                    surround.events.accept(new RunEvent.Training(event));
                },
                surround.breaks,
                Optional.empty());
        return new RunArtifacts(
                folder, plan, material(), new RunArtifacts.Company(fold.name(), session, surround.events));
    }

    /** Writes a file. */
    private interface Writing {
        void write() throws IOException;
    }

    private static void keeping(Writing writing) {
        try {
            writing.write();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private StageResult result(StageDone done) {
        Recipe recipe = plan.config().recipe();
        return new StageResult(
                done.stage(),
                (done.stage() == 1 ? recipe.stage1() : recipe.stage2()).epochs(),
                done.epochs(),
                done.kept() + 1,
                !fold.parts().heldBack().isEmpty(),
                done.improving(),
                Optional.empty());
    }

    /** Notes a classifier that was solved for again; the model has it at its end unless fine-tuning follows. */
    private void refitted(Refitted refit) throws IOException {
        if (refit.kept() && plan.config().recipe().stage2().epochs() == 0) {
            solved = Optional.of(refit.solution());
        }
        StageResult.read(folder.path())
                .getFirst()
                .with(new StageResult.Refit(refit.solution().text(), refit.kept(), refit.trained(), refit.solved()))
                .write(folder.path());
    }

    private TrainingData material() {
        Map<String, Integer> duplicates = new HashMap<>();
        for (int group = 0; group < plan.duplicates().size(); group++) {
            for (int index : plan.duplicates().get(group)) {
                duplicates.put(plan.dataset().samples().get(index).name(), group);
            }
        }
        return new TrainingData(
                fold.parts(),
                plan.config().data().crops().training(plan.config().recipe().seed()),
                plan.config().data().testPlan().testing(),
                surround.extraction,
                surround.threads,
                duplicates);
    }

    /**
     * What was measured of a model.
     *
     * @param evaluation on the test set, calibrated on the validation set
     * @param validation accuracy on the validation set; empty where there is none
     */
    private record Measured(Evaluation evaluation, OptionalDouble validation) {}

    private Measured measured(TwoStageTraining.Scores scores) {
        Evaluation plain = evaluation(fold.parts().test(), scores.test().compute());
        List<Sample> heldBack = fold.parts().heldBack();
        if (heldBack.isEmpty()) {
            return new Measured(plain, OptionalDouble.empty());
        }
        Evaluation validation = evaluation(heldBack, scores.heldBack().compute());
        return new Measured(
                plain.calibrated(Temperature.fit(validation.predictions())),
                OptionalDouble.of(validation.accuracy().value()));
    }

    private Evaluation evaluation(List<Sample> samples, List<Logits> logits) {
        return new Evaluation(
                new Setting(
                        plan.config().data().protocol().text(),
                        fold.name(),
                        plan.fingerprint(),
                        plan.config().recipe().seed()),
                plan.dataset().classes(),
                predictions(samples, logits));
    }

    /** Keeps what a stage ended with, unless the model on frozen features makes fewer errors on the validation set. */
    private void keep(int stage, Measured measured, Model model) throws IOException {
        surround.events.accept(new RunEvent.Measured(stage, measured.evaluation));
        if (stage == 1 && plan.config().recipe().stage2().epochs() > 0) {
            folder.keepFirst(measured.evaluation);
        }
        if (Files.exists(folder.frozen()) && measured.validation.isPresent()) {
            double frozen = ModelFile.header(folder.frozen()).card().metrics().getOrDefault(VALIDATION, 0.0);
            double tuned = measured.validation.getAsDouble();
            if (frozen > tuned) {
                adopt("validation accuracy %.1f %% fine-tuned, %.1f %% with the frozen backbone"
                        .formatted(100 * tuned, 100 * frozen));
                return;
            }
        }
        folder.keep(measured.evaluation, model, card(measured));
    }

    private static List<ImagePrediction> predictions(List<Sample> samples, List<Logits> logits) {
        return IntStream.range(0, samples.size())
                .mapToObj(i ->
                        new ImagePrediction(samples.get(i).name(), samples.get(i).label(), logits.get(i)))
                .toList();
    }

    /** How the model comes about. */
    private SequencedMap<String, String> origin() {
        SequencedMap<String, String> origin = division(plan, fold);
        origin.putAll(surround.origin);
        return origin;
    }

    /** Who trains and who tests: what is known of a model's origin before anything is computed. */
    static SequencedMap<String, String> division(RunPlan plan, FoldPlan fold) {
        SequencedMap<String, String> origin = new LinkedHashMap<>();
        origin.put(TrainedOn.PROTOCOL, plan.config().data().protocol().text());
        origin.put(TrainedOn.FOLD, fold.name());
        origin.put(TrainedOn.FINGERPRINT, plan.fingerprint().hex());
        origin.put("content", plan.content());
        origin.put(TrainedOn.SEED, Long.toString(plan.config().recipe().seed()));
        if (!plan.near().isEmpty()) {
            origin.put(TrainedOn.NEAR_DUPLICATES, TrainedOn.text(plan.near()));
        }
        origin.put(
                "pictures",
                "%d training, %d validation, %d test"
                        .formatted(
                                fold.parts().training().size(),
                                fold.parts().heldBack().size(),
                                fold.parts().test().size()));
        return origin;
    }

    private ModelCard card(Measured measured) throws IOException {
        Evaluation evaluation = measured.evaluation;
        LinkedHashMap<String, Double> metrics = new LinkedHashMap<>();
        measured.validation.ifPresent(accuracy -> metrics.put(VALIDATION, accuracy));
        for (Metric metric : Metric.values()) {
            metrics.put(metric.key(), metric.of(evaluation));
        }
        SequencedMap<String, String> origin = origin();
        solved.ifPresent(found -> origin.put("classifier", found.text()));
        for (LearningRateFinder.Result test : folder.rateTests()) {
            origin.put("learning rate of stage " + test.stage(), test.rateText());
        }
        return new ModelCard(
                plan.dataset().classes(),
                surround.extraction.extractor().network().preprocessing(),
                plan.config().data().testPlan(),
                evaluation.temperature().value(),
                origin,
                metrics);
    }

    /** All that decides how this fold is trained; the configuration and the weights are in the model's origin. */
    private String identity() {
        StringBuilder all = new StringBuilder();
        all.append(surround.origin)
                .append(plan.fingerprint().hex())
                .append(plan.content())
                .append(plan.dataset().classes())
                .append(fold.name())
                .append('\n');
        for (List<Sample> part : List.of(
                fold.parts().training(), fold.parts().heldBack(), fold.parts().test())) {
            part.forEach(sample ->
                    all.append(sample.name()).append(' ').append(sample.box()).append('\n'));
            all.append('\n');
        }
        return Sha256.hex(Sha256.of(all.toString().getBytes(StandardCharsets.UTF_8)));
    }
}
