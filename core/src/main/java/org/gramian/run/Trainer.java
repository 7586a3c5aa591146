package org.gramian.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.audit.Audit;
import org.gramian.image.audit.AuditFile;
import org.gramian.image.audit.AuditOptions;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Model;
import org.gramian.run.config.Choices;
import org.gramian.run.config.DefaultsContext;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Settings;
import org.gramian.run.plan.Estimate;
import org.gramian.run.plan.MemoryEstimate;
import org.gramian.run.plan.Probe;
import org.gramian.run.plan.Workload;
import org.gramian.tensor.Device;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.CheckpointPolicy;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.StageRecipe;

/**
 * From images to models: audits, decides what was left open, trains and measures every fold, and keeps all of it in a
 * folder from which a broken run goes on.
 *
 * <pre>{@code
 * Dataset photos = Layouts.open(Path.of("photos"));
 * RunResult result = Trainer.of(photos).asking(Settings.NONE.with(Keys.POOLING, "bcnn")).train(Path.of("run"));
 * result.summary().text(Metric.ACCURACY);
 * }</pre>
 *
 * @param dataset the images
 * @param asked what is asked for; everything else is chosen
 * @param workshop what it computes with
 * @param control who is told and who may stop it
 */
public record Trainer(Dataset dataset, Settings asked, RunResources workshop, Control control) {
    /**
     * Who is told and who may stop it.
     *
     * @param events told what happens, by one thread at a time, but not always the same one: images are looked at by many
     * @param breaks asked before each step, and while images are looked at
     * @param keepEvery how much work may be lost when the machine fails
     */
    public record Control(Consumer<RunEvent> events, Cancellation breaks, Duration keepEvery) {
        /** Nobody. */
        public static final Control NONE =
                new Control(_ -> {}, Cancellation.whenAsked(), CheckpointPolicy.DEFAULT_INTERVAL);
    }

    /** A trainer that chooses everything itself, on the processor. */
    public static Trainer of(Dataset dataset) {
        return new Trainer(dataset, Settings.NONE, RunResources.usual(Device.CPU), Control.NONE);
    }

    /** The same with wishes. */
    public Trainer asking(Settings wishes) {
        return new Trainer(dataset, wishes, workshop, control);
    }

    /** The same with other means. */
    public Trainer with(RunResources other) {
        return new Trainer(dataset, asked, other, control);
    }

    /** The same under control. */
    public Trainer under(Control other) {
        return new Trainer(dataset, asked, workshop, other);
    }

    /**
     * Looks at every image; one that the crops of this run cannot be taken from counts as unreadable.
     *
     * @throws UnfitDataException if no model can tell the classes apart
     * @throws InterruptedTrainingException if somebody asked for a break
     */
    public AuditReport audit() throws IOException, InterruptedException {
        RunPlan.requireClasses(dataset);
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        Settings settings = complete();
        CropPlan crops = settings.get(Keys.CROPS);
        Audit audit = new Audit(AuditOptions.DEFAULT, reader::read, workshop.threads()).requiring(crops.testing());
        if (settings.get(Keys.TEST_CROPS).isPresent()) {
            audit = audit.requiring(settings.get(Keys.TEST_CROPS).get().testing());
        }
        AuditReport report = audit.of(dataset, done -> {
            if (control.breaks.due().filter(Cancellation.Reason.ASKED::equals).isPresent()) {
                throw new InterruptedTrainingException(Cancellation.Reason.ASKED);
            }
            control.events.accept(new RunEvent.Auditing(done, dataset.samples().size()));
        });
        control.events.accept(new RunEvent.Audited(report));
        return report;
    }

    private Settings complete() throws IOException {
        return Choices.complete(asked, DefaultsContext.of(dataset, workshop.weights(), workshop.device()));
    }

    /**
     * Decides everything, trains nothing.
     *
     * @param audit of these images for these crops
     * @throws UnfitDataException if the images do not allow what is asked
     * @throws org.gramian.run.config.ConfigException if settings do not go together, or do not go with that many images
     */
    public RunPlan plan(AuditReport audit) throws IOException {
        RunPlan plan = RunPlan.of(dataset, complete(), audit, this::remark);
        Recipe recipe = plan.config().recipe();
        new Feasibility(plan, this::remark).require();
        List<StageRecipe> auto = Stream.of(recipe.stage1(), recipe.stage2())
                .filter(StageRecipe::autoRate)
                .toList();
        if (!auto.isEmpty() && auto.stream().allMatch(stage -> stage.epochs() == 0)) {
            remark("--lr auto has no effect: nothing is trained by gradient descent;"
                    + " --epochs N trains a head, --fine-tune N all layers");
        }
        if (plan.config().tensorboard()
                && recipe.stage1().epochs() + recipe.stage2().epochs() == 0) {
            remark("--tensorboard has no effect: the classifier is solved without epochs;"
                    + " --epochs N trains a head, --fine-tune N all layers");
        }
        memory(plan)
                .requireFits(MemoryEstimate.hostMemory(), MemoryEstimate.deviceMemory())
                .ifPresent(this::remark);
        if (recipe.precision() == Recipe.Precision.BF16
                && recipe.stage2().epochs() > 0
                && workshop.device().kind() != Device.Kind.CUDA) {
            remark(Keys.PRECISION + " bf16 is meant for a GPU; a CPU may be slower with it than with f32");
        }
        return plan;
    }

    /** How much there is to do. */
    public Workload workload(RunPlan plan) {
        SequencedMap<String, Parts> folds = new LinkedHashMap<>();
        plan.folds().forEach(fold -> folds.put(fold.name(), fold.parts()));
        return Workload.of(plan.config(), dataset.classes().size(), folds);
    }

    /** Estimates the memory that a run takes. */
    public MemoryEstimate memory(RunPlan plan) {
        return MemoryEstimate.of(workload(plan), workshop.device(), workshop.threads());
    }

    /** How long it may take, guessed from a few batches; takes seconds. */
    public Estimate estimate(RunPlan plan) throws IOException {
        try (FrozenBackbone network = InitialModel.network(plan.config().network(), workshop, _ -> {});
                Model model = InitialModel.model(plan.head(plan.folds().getFirst()), plan.seed(), network)) {
            Probe probe = new Probe(model, plan.config(), new ImageReader(ImageLimits.DEFAULT));
            List<Path> files = plan.folds().getFirst().parts().training().stream()
                    .map(Sample::file)
                    .toList();
            return Estimate.of(workload(plan), probe.measure(files), workshop.threads());
        }
    }

    private void remark(String text) {
        control.events.accept(new RunEvent.Remark(text));
    }

    /**
     * Trains into a folder: a new one, or that of a broken run with the same configuration and images, which goes on.
     *
     * @throws UnfitDataException if the images do not allow what is asked
     * @throws IOException if the folder holds a run of another configuration or of other images
     * @throws IllegalStateException if another run is at work in the folder
     * @throws InterruptedTrainingException if somebody asked for a break before anything was trained
     */
    public RunResult train(Path folder) throws IOException, InterruptedException {
        AuditReport audit = audit();
        return train(plan(audit), audit, folder);
    }

    /** Trains what was planned. */
    public RunResult train(RunPlan plan, AuditReport audit, Path folder) throws IOException {
        Files.createDirectories(folder);
        try (RunLock _ = RunLock.take(folder)) {
            AtomicFile.sweep(folder);
            new ExistingRun(folder).begin(plan);
            AuditFile.write(folder.resolve(AuditFile.NAME), audit);
            return locked(plan, audit, folder);
        }
    }

    /**
     * The folds of a plan that a folder holds finished; nothing is computed. Weights are not looked at: the models tell their
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
        try (RunScratch scratch = RunScratch.in(folder, workshop.cache());
                FrozenBackbone network = InitialModel.network(plan.config().network(), workshop, this::remark)) {
            FeatureExtractor extractor = new FeatureExtractor(
                    network,
                    FeatureExtractor.DEFAULT_BATCH,
                    plan.config().data().featureType());
            try (FeatureCache cache = FeatureCache.open(scratch.cache(), extractor.recipe(), this::remark)) {
                FeatureExtraction extraction =
                        new FeatureExtraction(extractor, ImageLimits.DEFAULT, Optional.of(cache));
                FoldRun.Surround surround = new FoldRun.Surround(
                        extraction,
                        workshop.threads(),
                        control.breaks,
                        control.keepEvery,
                        InitialModel.origin(plan.settings(), network),
                        control.events);
                for (int i = 0; i < plan.folds().size() && early.isEmpty(); i++) {
                    try {
                        Optional<FoldResult> result = fold(plan, i, folder, surround);
                        result.ifPresent(done::add);
                        early = result.map(FoldResult::early).orElse(Optional.of(Cancellation.Reason.ASKED));
                    } catch (InterruptedTrainingException stopped) {
                        early = Optional.of(stopped.reason());
                    }
                }
            }
        }
        return new RunResult(done, audit, early);
    }

    private Optional<FoldResult> fold(RunPlan plan, int index, Path folder, FoldRun.Surround surround)
            throws IOException {
        FoldPlan fold = plan.folds().get(index);
        int all = plan.folds().size();
        control.events.accept(new RunEvent.FoldStarted(index + 1, all, fold));
        FoldFolder place = FoldFolder.make(folder.resolve(fold.place()));
        Optional<FoldResult> result = new FoldRun(plan, fold, place, surround).run();
        result.ifPresent(one -> control.events.accept(new RunEvent.FoldDone(one)));
        return result;
    }
}
