package org.gramian.spark.train;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.spark.sql.SparkSession;
import org.gramian.evaluate.Temperature;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.run.History;
import org.gramian.run.InitialModel;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.spark.executor.SharedModel;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.DistributedStage;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainEvent;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.recipe.LossRecipe;

/** One training from a catalogue to a model in a folder, or the rest of it. */
final class DistributedRun {
    private final TrainingJob job;
    private final Settings settings;
    private final RunConfig config;
    private final FrozenBackbone network;
    private final SparkTrainer.Control control;

    DistributedRun(TrainingJob job, Settings settings, FrozenBackbone network, SparkTrainer.Control control) {
        this.job = job;
        this.settings = settings;
        this.config = RunConfig.of(settings);
        this.network = network;
        this.control = control;
    }

    TrainingOutcome run(ImageCatalog catalogue, RunFolder folder) throws IOException {
        SparkSession spark = catalogue.numbered().sparkSession();
        DistributedFeatures features = DistributedFeatures.in(folder, catalogue, config, network);
        if (folder.has(RunFolder.MODEL) && !folder.has(RunFolder.CHECKPOINT)) {
            return finished(features, folder);
        }
        if (!folder.has(RunFolder.CHECKPOINT)) { // whether settings are those of a run that was begun, that one tells
            folder.keep(settings);
        }
        SharedModel backbone = SharedBackbone.of(network, config.data().crops()).share(spark.sparkContext());
        features.complete(backbone, job.device(), this::computed);
        backbone.content().destroy(); // its place is wanted for features
        int groups = folder.groups(spark.sparkContext().defaultParallelism());
        long heldBack = catalogue.all() - catalogue.training();
        try (Shards training =
                        Shards.of(features.training(), spark, new Shards.Range(0, catalogue.training()), groups);
                Shards judging = features.judges()
                        ? Shards.of(
                                features.heldBack(), spark, new Shards.Range(catalogue.training(), heldBack), groups)
                        : null) {
            long lost = catalogue.all() - training.images() - (judging == null ? 0 : judging.images());
            if (lost > 0) {
                control.remarks()
                        .accept(lost + " of " + catalogue.all()
                                + " images cannot be read and are skipped; the table of features lists the errors");
            }
            Optional<Shards> judges = Optional.ofNullable(judging).filter(shards -> shards.count() > 0);
            Optional<Cancellation.Reason> early = train(features, training, judges, folder);
            boolean asked = early.filter(Cancellation.Reason.CANCELLED::equals).isPresent();
            return new TrainingOutcome(
                    asked ? Optional.empty() : Optional.of(folder.path(RunFolder.MODEL)),
                    early,
                    training.images(),
                    judges.map(Shards::images).orElse(0L),
                    lost,
                    features.path());
        }
    }

    /** What a run that is at its end came to, by its model alone: features may have been removed since. */
    private TrainingOutcome finished(DistributedFeatures features, RunFolder folder) throws IOException {
        ImageCatalog catalogue = features.catalogue();
        ModelCard card = ModelFile.header(folder.fetch(RunFolder.MODEL)).card();
        DistributedProvenance.Counted counted;
        try {
            counted = DistributedProvenance.countedOf(card.origin(), catalogue, settings, network);
        } catch (IOException other) {
            throw new IOException(folder.path(RunFolder.MODEL) + ": " + other.getMessage(), other);
        }
        control.remarks().accept("this run was finished already");
        return new TrainingOutcome(
                Optional.of(folder.path(RunFolder.MODEL)),
                Optional.empty(),
                counted.training(),
                counted.heldBack(),
                catalogue.all() - counted.training() - counted.heldBack(),
                features.path());
    }

    private void computed(TrainEvent.Collecting event) {
        control.breaks().reason().ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
        control.events().accept(event);
    }

    private Optional<Cancellation.Reason> train(
            DistributedFeatures features, Shards training, Optional<Shards> judges, RunFolder folder)
            throws IOException {
        long[] counts = features.counts();
        int images = Math.toIntExact(training.images());
        DistributedProvenance origin = DistributedProvenance.of(
                features.catalogue(),
                new DistributedProvenance.Counted(
                        training.images(), judges.map(Shards::images).orElse(0L)),
                settings,
                network);
        try (Model model = InitialModel.model(
                config.network().head(counts.length, images), config.recipe().seed(), network)) {
            LossRecipe loss = config.recipe().loss();
            StepWork work = new StepWork(
                    loss.smoothing(),
                    loss.weights(),
                    counts,
                    config.recipe().batching().batch());
            SparkWorkers workers = new SparkWorkers(model, training, judges.orElse(null), work, job.device());
            Checkpointing checkpointing = new Checkpointing(
                    folder.fetch(RunFolder.CHECKPOINT), origin.identity(), control.keepEvery(), folder::put);
            TrainingContext<TrainEvent> context = TrainingContext.<TrainEvent>of(model.device())
                    .withListener(told(folder))
                    .withCancellation(control.breaks())
                    .withCheckpointing(checkpointing);
            Optional<Cancellation.Reason> early = new DistributedStage(model, config.recipe(), workers, context).run();
            if (early.filter(Cancellation.Reason.CANCELLED::equals).isEmpty()) {
                ModelCard card = card(features.catalogue(), workers.temperature(), origin);
                folder.keep(settings);
                Path file = folder.fetch(RunFolder.MODEL);
                ModelFile.write(file, model, card);
                folder.put(file);
            }
            if (early.isEmpty()) {
                folder.remove(RunFolder.CHECKPOINT);
            }
            return early;
        }
    }

    /** Listeners, and the history, which is never behind the checkpoint. */
    private Consumer<TrainEvent> told(RunFolder folder) throws IOException {
        Path file = folder.fetch(RunFolder.HISTORY);
        History history = History.open(file);
        return event -> {
            if (event instanceof TrainEvent.EpochDone done) {
                try {
                    history.add(done);
                    folder.put(file);
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
            }
            control.events().accept(event);
        };
    }

    private ModelCard card(ImageCatalog catalogue, Temperature temperature, DistributedProvenance origin) {
        return new ModelCard(
                catalogue.classes(),
                network.preprocessing(),
                config.data().testPlan(),
                temperature.value(),
                origin.entries(),
                new LinkedHashMap<>());
    }
}
