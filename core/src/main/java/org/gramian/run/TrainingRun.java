package org.gramian.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.basis.AtomicFile;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.audit.Audit;
import org.gramian.image.audit.AuditOptions;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.Finding.Severity;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Model;
import org.gramian.run.config.DefaultResolver;
import org.gramian.run.config.DefaultsContext;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.run.plan.Estimate;
import org.gramian.run.plan.MemoryEstimate;
import org.gramian.run.plan.Probe;
import org.gramian.run.plan.Workload;
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
 * <pre>{@code
 * Dataset photos = Layouts.open(Path.of("photos"));
 * RunResult result = TrainingRun.of(photos).with(Settings.NONE.with("network.pooling", "bcnn")).train(Path.of("run"));
 * result.summary().text(Metric.ACCURACY);
 * }</pre>
 *
 * @param dataset the images
 * @param settings of the run; unset ones get their defaults
 * @param weights of pretrained backbones
 * @param cache folder of features that runs share; without it they are removed with the run
 * @param context device, threads, listener, cancellation and checkpoint interval. Its listener receives one event at a time, from
 *     any thread while images are audited
 */
public record TrainingRun(
        Dataset dataset, Settings settings, WeightStore weights, Optional<Path> cache, TrainingContext context) {
    /** Returns a trainer with default settings on the CPU. */
    public static TrainingRun of(Dataset dataset) {
        return new TrainingRun(
                dataset,
                Settings.NONE,
                WeightStore.ofProcess(),
                Optional.of(FeatureCache.defaultRoot()),
                TrainingContext.of(Device.CPU));
    }

    /** Returns this trainer with other settings. */
    public TrainingRun with(Settings other) {
        return new TrainingRun(dataset, other, weights, cache, context);
    }

    /** Returns this trainer in another context. */
    public TrainingRun with(TrainingContext other) {
        return new TrainingRun(dataset, settings, weights, cache, other);
    }

    /** Returns this trainer with other folders of weights and cached features. */
    public TrainingRun with(WeightStore otherWeights, Optional<Path> otherCache) {
        return new TrainingRun(dataset, settings, otherWeights, otherCache, context);
    }

    /**
     * Audits every image; one that is too small for the crops of this run counts as unreadable.
     *
     * @throws UnfitDataException if there are too few classes
     * @throws InterruptedTrainingException if the run is cancelled
     */
    public AuditReport audit() throws IOException, InterruptedException {
        RunPlan.requireClasses(dataset);
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        Settings complete = complete();
        CropPlan crops = complete.get(TrainConfig::crops);
        Audit audit = new Audit(AuditOptions.DEFAULT, reader::read, context.threads()).requiring(crops.testing());
        if (complete.get(TrainConfig::testCrops).isPresent()) {
            audit = audit.requiring(complete.get(TrainConfig::testCrops).get().testing());
        }
        AuditReport report = audit.of(
                dataset,
                done -> context.measuring(new TrainEvent.Task(
                        "checking images", done, dataset.samples().size())));
        context.listener().accept(audited(report));
        return report;
    }

    private static TrainEvent.Audited audited(AuditReport report) {
        return new TrainEvent.Audited(
                report.root(),
                report.findings().stream()
                        .filter(finding -> finding.severity() != Severity.NOTE)
                        .map(finding -> new Finding(finding.severity().text(), finding.sentence()))
                        .toList(),
                report.unreadable().stream()
                        .map(one -> new UnreadableImage(one.image().name(), one.reason()))
                        .toList());
    }

    private Settings complete() throws IOException {
        return DefaultResolver.complete(settings, DefaultsContext.of(dataset, weights, context.device()));
    }

    /**
     * Plans the run without training.
     *
     * @param audit of these images for these crops
     * @throws UnfitDataException if the images do not suffice for the settings
     * @throws org.gramian.run.config.ConfigException if settings contradict each other or the number of images
     */
    public RunPlan plan(AuditReport audit) throws IOException {
        RunPlan plan = RunPlan.of(dataset, complete(), audit, this::warn);
        Recipe recipe = plan.config().recipe();
        plan.requireFeasible(this::warn);
        if (plan.config().options().tensorboard()
                && recipe.stage1().epochs() + recipe.stage2().epochs() == 0) {
            warn("--tensorboard has no effect: the classifier is solved without epochs;"
                    + " --epochs N trains a head, --fine-tune N all layers");
        }
        memory(plan)
                .requireFits(MemoryEstimate.hostMemory(), MemoryEstimate.deviceMemory())
                .ifPresent(this::warn);
        if (recipe.precision() == Recipe.Precision.BF16
                && recipe.stage2().epochs() > 0
                && context.device().kind() != Device.Kind.CUDA) {
            warn("optimizer.precision bf16 is meant for a GPU; a CPU may be slower with it than with f32");
        }
        return plan;
    }

    /** Returns the amount of work of a run. */
    public Workload workload(RunPlan plan) {
        SequencedMap<String, Parts> folds = new LinkedHashMap<>();
        plan.folds().forEach(fold -> folds.put(fold.name(), fold.parts()));
        return Workload.of(plan.config(), dataset.classes().size(), folds);
    }

    /** Estimates the memory of a run. */
    public MemoryEstimate memory(RunPlan plan) {
        return MemoryEstimate.of(workload(plan), context.device(), context.threads());
    }

    /** Estimates the duration of a run from a few batches; takes seconds. */
    public Estimate estimate(RunPlan plan) throws IOException {
        try (FrozenBackbone network =
                        InitialModel.network(plan.config().network(), weights, context.device(), _ -> {});
                Model model = InitialModel.model(plan.head(plan.folds().getFirst()), plan.seed(), network)) {
            Probe probe = new Probe(model, plan.config(), new ImageReader(ImageLimits.DEFAULT));
            List<Path> files = plan.folds().getFirst().parts().training().stream()
                    .map(Sample::file)
                    .toList();
            return Estimate.of(workload(plan), probe.measure(files), context.threads());
        }
    }

    private void warn(String text) {
        context.listener().accept(new TrainEvent.Warning(text));
    }

    /**
     * Trains into a new folder, or resumes an interrupted run with the same configuration and images.
     *
     * @throws UnfitDataException if the images do not suffice for the settings
     * @throws IOException if the folder holds a run of another configuration or of other images
     * @throws IllegalStateException if another run uses the folder
     * @throws InterruptedTrainingException if the run is cancelled before anything is trained
     */
    public RunResult train(Path folder) throws IOException, InterruptedException {
        AuditReport audit = audit();
        return train(plan(audit), audit, folder);
    }

    /** Trains the folds of a plan. */
    public RunResult train(RunPlan plan, AuditReport audit, Path folder) throws IOException {
        Files.createDirectories(folder);
        try (RunLock _ = RunLock.take(folder)) {
            AtomicFile.sweep(folder);
            new ExistingRun(folder).begin(plan);
            audit.write(folder.resolve(AuditReport.FILE_NAME));
            return locked(plan, audit, folder);
        }
    }

    /**
     * Returns the finished folds of a plan in a folder, without computing anything. Weights are not read: the models store their
     * fingerprint.
     *
     * @throws IOException if the folder holds a run of another configuration or of other images
     */
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
        List<FoldResult> done = new ArrayList<>();
        Optional<Cancellation.Reason> early = Optional.empty();
        try (FeatureCache features = FeatureCache.open(cache, folder, this::warn);
                FrozenBackbone network =
                        InitialModel.network(plan.config().network(), weights, context.device(), this::warn)) {
            FeatureExtractor extractor = new FeatureExtractor(
                    network,
                    FeatureExtractor.DEFAULT_BATCH,
                    plan.config().options().featureType());
            FeatureExtraction extraction = new FeatureExtraction(extractor, ImageLimits.DEFAULT, Optional.of(features));
            planFeatures(plan, extraction);
            Map<String, String> origin = InitialModel.origin(plan.settings(), network);
            for (int i = 0; i < plan.folds().size() && early.isEmpty(); i++) {
                try {
                    Optional<FoldResult> result = fold(plan, i, folder, extraction, origin);
                    result.ifPresent(done::add);
                    early = result.map(FoldResult::early).orElse(Optional.of(Cancellation.Reason.CANCELLED));
                } catch (InterruptedTrainingException stopped) {
                    early = Optional.of(stopped.reason());
                }
            }
        }
        return new RunResult(done, audit, early);
    }

    /** Plans the features of all folds, which share most of them; fine-tuning alone needs few. */
    private static void planFeatures(RunPlan plan, FeatureExtraction extraction) {
        Recipe recipe = plan.config().recipe();
        if (recipe.stage1().epochs() == 0 && recipe.solver().isEmpty()) {
            return;
        }
        Crops test = plan.config().options().testPlan().testing();
        Crops training = plan.config().options().crops().training(recipe.seed());
        for (FoldPlan fold : plan.folds()) {
            extraction.plan(fold.parts().training(), training);
            if (recipe.solver().isPresent()) { // the last fit has them too
                extraction.plan(fold.parts().validation(), training);
            }
            extraction.plan(fold.parts().validation(), test);
            extraction.plan(fold.parts().test(), test);
        }
    }

    private Optional<FoldResult> fold(
            RunPlan plan, int index, Path folder, FeatureExtraction extraction, Map<String, String> origin)
            throws IOException {
        FoldPlan fold = plan.folds().get(index);
        int all = plan.folds().size();
        context.listener()
                .accept(new TrainEvent.FoldStarted(
                        index + 1,
                        all,
                        fold.name(),
                        fold.parts().training().size(),
                        fold.parts().validation().size(),
                        fold.validationSource(),
                        fold.parts().test().size()));
        FoldFolder place = FoldFolder.make(folder.resolve(fold.place()));
        Optional<FoldResult> result = new FoldRun(plan, fold, place, extraction, origin, context).run();
        result.ifPresent(one -> context.listener()
                .accept(new TrainEvent.FoldDone(index + 1, all, one.folder(), FoldRun.accuracy(one.evaluation()))));
        return result;
    }
}
