package org.gramian.spark.train;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.apache.spark.sql.SparkSession;
import org.gramian.autodiff.ParameterSet;
import org.gramian.evaluate.Temperature;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.run.History;
import org.gramian.run.InitialModel;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.spark.executor.ModelContent;
import org.gramian.spark.executor.SharedModel;
import org.gramian.tensor.DType;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.DistributedStage;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainEvent;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.recipe.Recipe;

/** Distributed training from an image catalog to a model in a run folder, resuming if possible. */
final class DistributedRun {
    /** Classes of the placeholder head. */
    private static final List<String> CLASSES = List.of("one", "other");

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

    TrainingOutcome run(ImageCatalog catalogue, RemoteRunFolder folder) throws IOException {
        SparkSession spark = catalogue.numbered().sparkSession();
        DistributedFeatures features = DistributedFeatures.in(folder, catalogue, config, network);
        if (folder.has(RemoteRunFolder.MODEL) && !folder.has(RemoteRunFolder.CHECKPOINT)) {
            return finished(features, folder);
        }
        if (!folder.has(RemoteRunFolder.CHECKPOINT)) { // the checkpoint verifies the settings of a resumed run
            folder.keep(settings);
        }
        SharedModel backbone = backboneFile(network, config.data().crops()).share(spark.sparkContext());
        features.complete(backbone, job.device(), this::computed);
        backbone.content().destroy(); // frees memory for features
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
            boolean requested =
                    early.filter(Cancellation.Reason.CANCELLED::equals).isPresent();
            return new TrainingOutcome(
                    requested ? Optional.empty() : Optional.of(folder.path(RemoteRunFolder.MODEL)),
                    early,
                    training.images(),
                    judges.map(Shards::images).orElse(0L),
                    lost,
                    features.path());
        }
    }

    /** What a run that is at its end came to, by its model alone: features may have been removed since. */
    private TrainingOutcome finished(DistributedFeatures features, RemoteRunFolder folder) throws IOException {
        ImageCatalog catalogue = features.catalogue();
        ModelCard card = ModelFile.header(folder.fetch(RemoteRunFolder.MODEL)).card();
        DistributedProvenance.Counted counted;
        try {
            counted = DistributedProvenance.countedOf(card.origin(), catalogue, settings, network);
        } catch (IOException other) {
            throw new IOException(folder.path(RemoteRunFolder.MODEL) + ": " + other.getMessage(), other);
        }
        control.remarks().accept("this run was finished already");
        return new TrainingOutcome(
                Optional.of(folder.path(RemoteRunFolder.MODEL)),
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
            DistributedFeatures features, Shards training, Optional<Shards> judges, RemoteRunFolder folder)
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
            Recipe.Loss loss = config.recipe().loss();
            StepWork work = new StepWork(
                    loss.smoothing(),
                    loss.weights(),
                    counts,
                    config.recipe().batching().batch());
            SparkWorkers workers = new SparkWorkers(model, training, judges.orElse(null), work, job.device());
            Checkpointing checkpointing = new Checkpointing(
                    folder.fetch(RemoteRunFolder.CHECKPOINT), origin.identity(), control.keepEvery(), folder::put);
            TrainingContext<TrainEvent> context = TrainingContext.<TrainEvent>of(model.device())
                    .withListener(told(folder))
                    .withCancellation(control.breaks())
                    .withCheckpointing(checkpointing);
            Optional<Cancellation.Reason> early = new DistributedStage(model, config.recipe(), workers, context).run();
            if (early.filter(Cancellation.Reason.CANCELLED::equals).isEmpty()) {
                ModelCard card = card(features.catalogue(), workers.temperature(), origin);
                folder.keep(settings);
                Path file = folder.fetch(RemoteRunFolder.MODEL);
                ModelFile.write(file, model, card);
                folder.put(file);
            }
            if (early.isEmpty()) {
                folder.remove(RemoteRunFolder.CHECKPOINT);
            }
            return early;
        }
    }

    /** Listeners, and the history, which is never behind the checkpoint. */
    private Consumer<TrainEvent> told(RemoteRunFolder folder) throws IOException {
        Path file = folder.fetch(RemoteRunFolder.HISTORY);
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

    /**
     * Returns a frozen backbone as a model file, the form in which executors load models. It has the smallest possible head: the
     * head to train may have no parameters before it is fitted to features.
     */
    private static ModelContent backboneFile(FrozenBackbone network, CropPlan crops) throws IOException {
        Head head = new Head(Pooling.parse("average"), CLASSES.size(), false);
        Path file = Files.createTempFile("gramian-backbone-", ".safetensors");
        try (ParameterSet parameters = ParameterSet.initialize(
                head.parameters(network.backbone().channels()), new SplittableRandom(0), DType.F32, network.device())) {
            Model model = new Model(network.backbone(), network.parameters(), head, parameters, network.device());
            ModelCard card = new ModelCard(
                    CLASSES, network.preprocessing(), crops, 1, new LinkedHashMap<>(), new LinkedHashMap<>());
            ModelFile.write(file, model, card);
            return ModelContent.of(Files.readAllBytes(file), "the backbone " + network.backbone());
        } finally {
            Files.delete(file);
        }
    }
}
