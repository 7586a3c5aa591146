package org.gramian.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.Subsample;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.AuditReport.Finding.Kind;
import org.gramian.image.audit.AuditReport.Finding.Severity;
import org.gramian.image.audit.finding.Auditor;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.run.ExistingRun.Sampled;
import org.gramian.run.RunResult.FoldResult;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.DefaultResolver;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.Device;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Audited.Finding;
import org.gramian.train.event.TrainEvent.Audited.UnreadableImage;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Recipe;

/**
 * Trains models on a dataset: audits the images, completes the settings, trains and evaluates every fold, and writes everything to a
 * folder from which an interrupted run resumes.
 *
 * @param context device, threads, listener, cancellation and checkpoint interval. Its listener receives one event at a time, from
 *     any thread while images are audited
 */
public record TrainingRun(
        Dataset dataset, Settings settings, WeightStore weights, Optional<Path> cache, TrainingContext context) {
    /** Images of the first model, where a time budget does not allow fewer. */
    private static final int FIRST_IMAGES = 192;

    private static final int FEWEST_IMAGES = 64;
    private static final long FIRST_PER_SECOND = 3;

    /** Images between two looks at the clock. */
    private static final int GROUP = 128;

    /** Sampled images by those expected to fit: the first batches took up to twice as long as the rest. */
    private static final double HEADROOM = 2;

    /** Time of the report by that of evaluating and writing the first model, whose code is cold too. */
    private static final int REPORT = 4;

    /** Part of the time budget for the report: at least, and where no first model was measured. */
    private static final int LEAST_ENDING = 50;

    private static final int ENDING = 20;

    private static final String CHECKING = "checking images";
    private static final String FEATURES = "training features";

    public static TrainingRun of(Dataset dataset) {
        return new TrainingRun(
                dataset,
                Settings.NONE,
                WeightStore.ofProcess(),
                Optional.of(FeatureCache.defaultRoot()),
                TrainingContext.of(Device.CPU));
    }

    public TrainingRun with(Settings other) {
        return new TrainingRun(dataset, other, weights, cache, context);
    }

    public TrainingRun with(TrainingContext other) {
        return new TrainingRun(dataset, settings, weights, cache, other);
    }

    public TrainingRun with(WeightStore otherWeights, Optional<Path> otherCache) {
        return new TrainingRun(dataset, settings, otherWeights, otherCache, context);
    }

    /** Audits every image; one that is too small for the crops of this run counts as unreadable. */
    public AuditReport audit() throws IOException, InterruptedException {
        RunPlan.requireClasses(dataset);
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        Settings complete = complete();
        Crops crops = complete.get(TrainConfig.CROPS).testing();
        Auditor audit = complete.get(TrainConfig.TEST_CROPS)
                .map(test -> new Auditor(reader::read, context.threads(), crops, test.testing()))
                .orElseGet(() -> new Auditor(reader::read, context.threads(), crops));
        AuditReport report = audit.of(
                dataset,
                done -> context.measuring(
                        new TrainEvent.Task(CHECKING, done, dataset.samples().size())));
        context.send(audited(report));
        return report;
    }

    /** Receives the plan of the first model before anything is written, and selects folds. */
    @FunctionalInterface
    public interface FoldSelection {
        RunPlan select(RunPlan whole) throws IOException;
    }

    /**
     * Begins a run with a first model, a linear classifier on average pooling, trained on a small sample: the result of a run that
     * is interrupted, or out of time, before there is a better one. There is none if all images are few.
     *
     * @return the trainer of the run: with a time budget that of a stratified random sample which may fit, else of all images; a
     *     run that exists keeps its sample
     */
    public TrainingRun begin(Path folder, FoldSelection folds) throws IOException, InterruptedException {
        RunPlan.requireClasses(dataset);
        TrainingRun whole = with(complete());
        ExistingRun run = new ExistingRun(folder);
        if (run.exists()) {
            Optional<Sampled> sample = run.sample();
            return sample.isPresent() ? whole.sampled(sample.get().planned()) : whole;
        }
        // wrong weights end a run before anything is written
        InitialModel.network(RunConfig.of(whole.settings).network(), weights, context.device(), _ -> {})
                .close();
        int all = dataset.samples().size();
        Cancellation cancellation = context.cancellation();
        Optional<Duration> budget = cancellation.budget();
        if (budget.isEmpty() && all < 2 * FIRST_IMAGES) {
            return whole;
        }
        Pace pace = new Pace(() -> cancellation.elapsed().toNanos());
        TrainingRun first = whole.sampled(Math.clamp(
                        budget.map(time -> FIRST_PER_SECOND * time.toSeconds()).orElse((long) FIRST_IMAGES),
                        FEWEST_IMAGES,
                        FIRST_IMAGES))
                .with(context.withCancellation(cancellation.withoutBudget()).withListener(event -> {
                    pace.accept(event);
                    if (event instanceof TrainEvent.Task || event instanceof TrainEvent.FirstModel) {
                        context.send(event); // findings of the sample are not those of the dataset
                    }
                }));
        Optional<FirstModel> model = first.trainFirst(folder, folds);
        if (model.isEmpty() || budget.isEmpty()) {
            return whole;
        }
        Duration report = model.get().ending.multipliedBy(REPORT);
        Duration least = budget.get().dividedBy(LEAST_ENDING);
        cancellation.reserve(report.compareTo(least) > 0 ? report : least);
        double left = forFeatures(cancellation.remaining().orElseThrow(), model.get().folds)
                        .toNanos()
                / 1e9;
        double checking = pace.seconds(CHECKING);
        double fitting = Math.min(HEADROOM * left / (checking + pace.seconds(FEATURES)), left / 2 / checking);
        TrainingRun rest = whole.sampled(Math.max(first.dataset.samples().size(), (int) fitting));
        int planned = rest.dataset.samples().size();
        if (planned < all) {
            run.keep(new Sampled(planned, planned, all));
        }
        return rest;
    }

    /** Returns the part of the time left for checking images and for features: the head of each fold takes as long. */
    private static Duration forFeatures(Duration left, int folds) {
        return left.dividedBy(folds + 1L);
    }

    /** @param ending time of its evaluation and writing */
    private record FirstModel(Duration ending, int folds) {}

    /** Trains the first model on the images of this trainer; not if these do not suffice: training on all images says why. */
    private Optional<FirstModel> trainFirst(Path folder, FoldSelection folds) throws IOException, InterruptedException {
        RunPlan plan;
        try {
            plan = plan(audit());
        } catch (UnfitDataException | ConfigException unfit) {
            return Optional.empty();
        }
        Duration[] ending = {Duration.ZERO};
        RunPlan selected = folds.select(plan);
        FoldPlan fold = selected.folds().getFirst();
        Files.createDirectories(folder);
        ExistingRun run = new ExistingRun(folder);
        try (ExistingRun.Lock _ = run.lock()) {
            run.begin(selected);
            compute(selected, folder, (extraction, origin) -> {
                FoldFolder place = FoldFolder.make(folder.resolve(fold.place()));
                planFeatures(selected.only(List.of(fold.name())), extraction, _ -> true);
                ending[0] = new FoldRun(selected, fold, place, extraction, origin, context).solveFirst();
            });
        }
        return Optional.of(new FirstModel(ending[0], selected.folds().size()));
    }

    /** Returns the trainer of a stratified random sample, with images of each class and part of a split. */
    private TrainingRun sampled(int images) {
        List<Sample> samples = dataset.samples();
        List<String> strata = IntStream.range(0, samples.size())
                .mapToObj(
                        i -> samples.get(i).label() + " " + dataset.assignment().part(i))
                .toList();
        int least = dataset.assignment() instanceof Assignment.None ? 2 : 1; // one to train on, one to test
        int count = Math.max(images, least * (int) strata.stream().distinct().count());
        return count >= samples.size()
                ? this
                : new TrainingRun(
                        dataset.sample(
                                Subsample.stratified(strata, least, settings.get(TrainConfig.SEED))
                                        .subList(0, count)
                                        .stream()
                                        .sorted()
                                        .toList()),
                        settings,
                        weights,
                        cache,
                        context);
    }

    private static TrainEvent.Audited audited(AuditReport report) {
        return new TrainEvent.Audited(
                report.root(),
                report.findings().stream()
                        .filter(finding -> finding.severity() != Severity.NOTE
                                && finding.kind() != Kind.LAYOUT) // in the notes of the dataset
                        .map(finding -> new Finding(finding.severity().text(), finding.sentence()))
                        .toList(),
                report.unreadable().stream()
                        .map(one -> new UnreadableImage(one.image().name(), one.reason()))
                        .toList());
    }

    private Settings complete() throws IOException {
        return DefaultResolver.complete(
                settings,
                DefaultResolver.Context.of(
                        dataset, weights.available(), context.device().kind()));
    }

    public RunPlan plan(AuditReport audit) throws IOException {
        RunPlan plan = RunPlan.of(dataset, complete(), audit, context::warn);
        Recipe recipe = plan.config().recipe();
        plan.requireFeasible(context::warn);
        memory(plan)
                .requireFits(MemoryEstimate.hostMemory(), MemoryEstimate.deviceMemory())
                .ifPresent(context::warn);
        if (recipe.precision() == Recipe.Precision.BF16
                && recipe.stage2().epochs() > 0
                && context.device().kind() != Device.Kind.CUDA) {
            context.warn("optimizer.precision bf16 is meant for a GPU; a CPU may be slower with it than with f32");
        }
        return plan;
    }

    public Workload workload(RunPlan plan) {
        SequencedMap<String, Parts> folds = new LinkedHashMap<>();
        plan.folds().forEach(fold -> folds.put(fold.name(), fold.parts()));
        return Workload.of(plan.config(), dataset.classes().size(), folds);
    }

    public MemoryEstimate memory(RunPlan plan) {
        return MemoryEstimate.of(workload(plan), context.device(), context.threads());
    }

    /** Trains into a new folder, or resumes an interrupted run with the same configuration and images. */
    public RunResult train(Path folder) throws IOException, InterruptedException {
        TrainingRun run = begin(folder, whole -> whole);
        AuditReport audit = run.audit();
        return run.train(run.plan(audit), audit, folder);
    }

    public RunResult train(RunPlan plan, AuditReport audit, Path folder) throws IOException {
        Files.createDirectories(folder);
        ExistingRun run = new ExistingRun(folder);
        try (ExistingRun.Lock _ = run.lock()) {
            AtomicFile.sweep(folder);
            run.begin(plan);
            audit.write(folder.resolve(AuditReport.FILE_NAME));
            return locked(plan, audit, folder);
        }
    }

    /** Returns the finished folds of a plan in a folder, without computing anything. */
    public static List<FoldResult> kept(RunPlan plan, Path folder) throws IOException {
        ExistingRun begun = new ExistingRun(folder);
        List<FoldResult> done = new ArrayList<>();
        if (!begun.exists()) {
            return done;
        }
        begun.requireSame(plan.settings());
        for (FoldPlan fold : plan.folds()) {
            FoldFolder place = new FoldFolder(folder.resolve(fold.place()));
            if (place.isDone()) {
                place.requireOrigin(
                        place.model(),
                        FoldRun.division(plan, fold),
                        plan.dataset().classes());
                done.add(new FoldResult(place.path(), place.evaluation(), place.afterFirst(), Optional.empty()));
            }
        }
        return done;
    }

    private RunResult locked(RunPlan plan, AuditReport audit, Path folder) throws IOException {
        int folds = plan.folds().size();
        List<Optional<FoldResult>> results = new ArrayList<>();
        Optional<Cancellation.Reason> early = Optional.empty();
        Cancellation cancellation = context.cancellation();
        if (cancellation.reserved().isZero()) {
            cancellation.budget().ifPresent(all -> cancellation.reserve(all.dividedBy(ENDING)));
        }
        try {
            compute(plan, folder, (extraction, origin) -> {
                requireTime(cancellation);
                RunPlan inTime = planFeatures(plan, new ExistingRun(folder), extraction);
                while (results.size() < folds) { // each fold has an equal part of the time that is left
                    requireTime(cancellation);
                    TrainingContext part = context.withCancellation(cancellation.part(folds - results.size()));
                    results.add(fold(inTime, results.size(), folder, extraction, origin, part));
                }
            });
        } catch (InterruptedTrainingException stopped) {
            early = Optional.of(stopped.reason());
            for (FoldPlan fold : plan.folds().subList(results.size(), folds)) {
                results.add(unfinished(fold, folder, stopped.reason()));
            }
        }
        List<FoldResult> done = results.stream().flatMap(Optional::stream).toList();
        boolean late = done.size() < folds
                || done.stream().anyMatch(fold -> fold.early().isPresent());
        return new RunResult(
                done, audit, early.or(() -> late ? Optional.of(Cancellation.Reason.OUT_OF_TIME) : Optional.empty()));
    }

    private static void requireTime(Cancellation cancellation) {
        cancellation.reason().ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
    }

    /** Returns the model that an interrupted fold has: the first one, or that on frozen features. */
    private static Optional<FoldResult> unfinished(FoldPlan fold, Path folder, Cancellation.Reason reason)
            throws IOException {
        FoldFolder place = new FoldFolder(folder.resolve(fold.place()));
        return Files.exists(place.model())
                ? Optional.of(new FoldResult(place.path(), place.evaluation(), Optional.empty(), Optional.of(reason)))
                : Optional.empty();
    }

    @FunctionalInterface
    private interface Computation {
        void run(FeatureExtraction extraction, Map<String, String> origin) throws IOException;
    }

    private void compute(RunPlan plan, Path folder, Computation computation) throws IOException {
        try (FeatureCache features = FeatureCache.open(cache, folder, context::warn);
                FrozenBackbone network =
                        InitialModel.network(plan.config().network(), weights, context.device(), context::warn)) {
            FeatureExtractor extractor = new FeatureExtractor(
                    network, FeatureExtractor.DEFAULT_BATCH, plan.config().get(TrainConfig.FEATURE_TYPE));
            Map<String, String> origin = InitialModel.origin(plan.settings(), network);
            origin.putAll(new ExistingRun(folder).extended());
            computation.run(new FeatureExtraction(extractor, Optional.of(features)), origin);
        }
    }

    /** Computes the features of a plan, except those of an earlier one, which are copied within the cache. */
    void addFeatures(RunPlan earlier, RunPlan plan, Path folder) throws IOException {
        compute(plan, folder, (extraction, _) -> {
            planFeatures(earlier, extraction, _ -> true);
            if (!extraction.reusePlanned(context::measuring)) {
                throw new IOException("the features of the run to extend are not in the cache " + cache.orElse(folder)
                        + " any more, or an image changed; train anew on all images with 'gramian train'");
            }
            planFeatures(plan, extraction, _ -> true);
            extraction.computePlanned(FEATURES, context.threads(), context::measuring);
        });
    }

    /**
     * Plans the features of all folds, which share most of them; fine-tuning alone needs few. Those of a sample are computed at
     * once, in groups, until their share of the time budget is used.
     */
    private RunPlan planFeatures(RunPlan plan, ExistingRun run, FeatureExtraction extraction) throws IOException {
        Recipe recipe = plan.config().recipe();
        if (recipe.stage1().epochs() == 0 && recipe.solver().isEmpty()) {
            return plan;
        }
        int all = dataset.samples().size();
        Optional<Sampled> kept = run.sample();
        if (kept.isEmpty() && context.cancellation().budget().isEmpty()) {
            planFeatures(plan, extraction, _ -> true);
            return plan;
        }
        Sampled sample = kept.orElse(new Sampled(all, all, all));
        Map<Sample, String> strata = new LinkedHashMap<>();
        for (FoldPlan fold : plan.folds()) {
            fold.parts().training().forEach(image -> strata.putIfAbsent(image, image.label() + " train"));
            fold.parts().validation().forEach(image -> strata.putIfAbsent(image, image.label() + " validation"));
            fold.parts().test().forEach(image -> strata.putIfAbsent(image, image.label() + " test"));
        }
        List<Sample> images = List.copyOf(strata.keySet());
        List<Sample> order = Subsample.stratified(List.copyOf(strata.values()), 1, plan.seed()).stream()
                .map(images::get)
                .toList();
        int most = Math.min(order.size(), sample.used());
        int done = 0;
        Optional<Duration> end = context.cancellation()
                .remaining()
                .map(left -> left.minus(forFeatures(left, plan.folds().size())));
        while (done < most && (done == 0 || !hasReached(end))) {
            int start = done;
            // the first group may be all images of the first model, whose features are in the cache then
            int next = Math.min(
                    most, start + (start > 0 ? GROUP : Math.max(FIRST_IMAGES, new HashSet<>(strata.values()).size())));
            planFeatures(plan, extraction, new HashSet<>(order.subList(start, next))::contains);
            extraction.computePlanned(
                    FEATURES,
                    context.threads(),
                    task -> context.measuring(new TrainEvent.Task(
                            FEATURES, start + (task.name().equals(FEATURES) ? task.done() : 0), most)));
            done = next;
        }
        if (done < most) {
            run.keep(new Sampled(sample.planned(), done, sample.all()));
        }
        if (sample.planned() < sample.all() || done < most) {
            context.warn(
                    "the time budget suffices for %d of %d images, a stratified random sample; a longer --time-budget uses more"
                            .formatted(done, sample.all()));
        }
        return done < order.size() ? plan.within(new HashSet<>(order.subList(0, done))) : plan;
    }

    /** Whether only so much of the time budget is left for training. */
    private boolean hasReached(Optional<Duration> end) {
        return context.cancellation()
                .remaining()
                .filter(left -> left.compareTo(end.orElseThrow()) <= 0)
                .isPresent();
    }

    private static void planFeatures(RunPlan plan, FeatureExtraction extraction, Predicate<Sample> planned) {
        Crops training = plan.config().trainingCrops();
        Crops test = plan.config().testPlan().testing();
        for (FoldPlan fold : plan.folds()) {
            List<Sample> validation =
                    fold.parts().validation().stream().filter(planned).toList();
            extraction.plan(fold.parts().training().stream().filter(planned).toList(), training);
            if (plan.config().recipe().solver().isPresent()) { // the last fit has them too
                extraction.plan(validation, training);
            }
            extraction.plan(validation, test);
            extraction.plan(fold.parts().test().stream().filter(planned).toList(), test);
        }
    }

    /** Trains a fold; out of time it has the model that it has by then, if any. */
    private Optional<FoldResult> fold(
            RunPlan plan,
            int index,
            Path folder,
            FeatureExtraction extraction,
            Map<String, String> origin,
            TrainingContext part)
            throws IOException {
        FoldPlan fold = plan.folds().get(index);
        int all = plan.folds().size();
        context.send(new TrainEvent.FoldStarted(
                index + 1,
                all,
                fold.name(),
                fold.parts().training().size(),
                fold.parts().validation().size(),
                fold.validationSource(),
                fold.parts().test().size()));
        FoldFolder place = FoldFolder.make(folder.resolve(fold.place()));
        Optional<FoldResult> result;
        try {
            result = Optional.of(new FoldRun(plan, fold, place, extraction, origin, part)
                    .run()
                    .orElseThrow(() -> new InterruptedTrainingException(Cancellation.Reason.CANCELLED)));
        } catch (InterruptedTrainingException stopped) {
            if (stopped.reason() == Cancellation.Reason.CANCELLED) {
                throw stopped;
            }
            result = unfinished(fold, folder, stopped.reason());
        }
        if (result.flatMap(FoldResult::early)
                .filter(Cancellation.Reason.CANCELLED::equals)
                .isPresent()) {
            throw new InterruptedTrainingException(Cancellation.Reason.CANCELLED);
        }
        result.ifPresent(one -> context.send(
                new TrainEvent.FoldDone(index + 1, all, one.folder(), FoldRun.accuracy(one.evaluation()))));
        return result;
    }

    /** Measures the seconds that each task of a run takes for an image, from its events. */
    private static final class Pace {
        private final LongSupplier nanoseconds;
        private final Map<String, Long> starts = new HashMap<>();
        private final Map<String, Double> seconds = new HashMap<>();
        private long last;

        Pace(LongSupplier nanoseconds) {
            this.nanoseconds = nanoseconds;
            this.last = nanoseconds.getAsLong();
        }

        synchronized void accept(TrainEvent event) {
            long now = nanoseconds.getAsLong();
            if (event instanceof TrainEvent.Task(String name, long done, long _) && done > 0) {
                // a task begins when the one before it ends: the first batch counts too
                long start = starts.computeIfAbsent(name, _ -> last);
                seconds.put(name, (now - start) / 1e9 / done);
            }
            last = now;
        }

        /** Returns the seconds per image of a task; 0 if it did not run. */
        synchronized double seconds(String task) {
            return seconds.getOrDefault(task, 0.0);
        }
    }
}
