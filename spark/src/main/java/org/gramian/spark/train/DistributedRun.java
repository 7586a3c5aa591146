package org.gramian.spark.train;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;
import org.gramian.autodiff.ParameterSet;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.evaluate.Temperature;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.run.InitialModel;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.spark.executor.ModelContent;
import org.gramian.spark.executor.ModelContent.SharedModel;
import org.gramian.tensor.DType;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.DistributedStage;
import org.gramian.train.loop.History;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.recipe.Recipe;

/** Distributed training from an image catalog to a model in a run folder, resuming if possible. */
final class DistributedRun {
    /** Key of the number of images in the provenance of a model. */
    private static final String IMAGES = "images";

    /** Classes of the placeholder head. */
    private static final List<String> CLASSES = List.of("one", "other");

    private final TrainingJob job;
    private final Settings settings;
    private final RunConfig config;
    private final FrozenBackbone network;
    private final SparkTrainer trainer;

    DistributedRun(TrainingJob job, Settings settings, FrozenBackbone network, SparkTrainer trainer) {
        this.job = job;
        this.settings = settings;
        this.config = RunConfig.of(settings);
        this.network = network;
        this.trainer = trainer;
    }

    TrainingOutcome run(ImageCatalog catalog, RemoteRunFolder folder) throws IOException {
        SparkSession spark = catalog.numbered().sparkSession();
        DistributedFeatures features = DistributedFeatures.in(folder, catalog, config, network);
        if (folder.has(RemoteRunFolder.MODEL) && !folder.has(RemoteRunFolder.CHECKPOINT)) {
            return finished(features, folder);
        }
        if (!folder.has(RemoteRunFolder.CHECKPOINT)) { // the checkpoint verifies the settings of a resumed run
            folder.keep(settings);
        }
        SharedModel backbone = backboneFile(network, config.options().crops()).share(spark.sparkContext());
        features.complete(backbone, job.device(), this::collecting);
        backbone.content().destroy(); // frees memory for features
        int groups = folder.groups(spark.sparkContext().defaultParallelism());
        long validation = catalog.all() - catalog.training();
        try (Shards training = Shards.of(features.training(), spark, new Shards.Range(0, catalog.training()), groups);
                Shards validating = features.hasValidation()
                        ? Shards.of(
                                features.validation(), spark, new Shards.Range(catalog.training(), validation), groups)
                        : null) {
            long lost = catalog.all() - training.images() - (validating == null ? 0 : validating.images());
            if (lost > 0) {
                trainer.warnings()
                        .accept(lost + " of " + catalog.all()
                                + " images cannot be read and are skipped; the table of features lists the errors");
            }
            Optional<Shards> validationShards = Optional.ofNullable(validating).filter(shards -> shards.count() > 0);
            Optional<Cancellation.Reason> interruption = train(features, training, validationShards, folder);
            boolean cancelled =
                    interruption.filter(Cancellation.Reason.CANCELLED::equals).isPresent();
            return new TrainingOutcome(
                    cancelled ? Optional.empty() : Optional.of(folder.path(RemoteRunFolder.MODEL)),
                    interruption,
                    training.images(),
                    validationShards.map(Shards::images).orElse(0L),
                    lost,
                    features.path());
        }
    }

    /** Returns the outcome of a finished run from its model alone: features may have been removed since. */
    private TrainingOutcome finished(DistributedFeatures features, RemoteRunFolder folder) throws IOException {
        ImageCatalog catalog = features.catalog();
        ModelCard card = ModelFile.header(folder.fetch(RemoteRunFolder.MODEL)).card();
        Counted counted;
        try {
            counted = counted(card.origin(), catalog);
        } catch (IOException other) {
            throw new IOException(folder.path(RemoteRunFolder.MODEL) + ": " + other.getMessage(), other);
        }
        trainer.warnings().accept("this run was finished already");
        return new TrainingOutcome(
                Optional.of(folder.path(RemoteRunFolder.MODEL)),
                Optional.empty(),
                counted.training(),
                counted.validation(),
                catalog.all() - counted.training() - counted.validation(),
                features.path());
    }

    private void collecting(TrainEvent.Task event) {
        trainer.context().cancellation().reason().ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
        trainer.context().listener().accept(event);
    }

    private Optional<Cancellation.Reason> train(
            DistributedFeatures features, Shards training, Optional<Shards> validationShards, RemoteRunFolder folder)
            throws IOException {
        long[] counts = features.counts();
        int images = Math.toIntExact(training.images());
        Counted counted = new Counted(
                training.images(), validationShards.map(Shards::images).orElse(0L));
        SequencedMap<String, String> provenance = provenance(features.catalog(), counted.text());
        String identity = sha256(provenance.toString());
        try (Model model = InitialModel.model(
                config.network().head(counts.length, images), config.recipe().seed(), network)) {
            Recipe.Loss loss = config.recipe().loss();
            HeadTask.GradientWork work = new HeadTask.GradientWork(
                    loss.smoothing(),
                    loss.weights(),
                    counts,
                    config.recipe().batching().batch());
            SparkWorkers workers = new SparkWorkers(model, training, validationShards.orElse(null), work, job.device());
            Checkpointing checkpointing = new Checkpointing(
                    folder.fetch(RemoteRunFolder.CHECKPOINT),
                    identity,
                    trainer.context().checkpointing().interval(),
                    folder::put);
            History history = History.open(folder.fetch(RemoteRunFolder.HISTORY), folder::put);
            TrainingContext context =
                    trainer.context().withCheckpointing(checkpointing).withHistory(history);
            Optional<Cancellation.Reason> interruption =
                    new DistributedStage(model, config.recipe(), workers, context).run();
            if (interruption.filter(Cancellation.Reason.CANCELLED::equals).isEmpty()) {
                ModelCard card = card(features.catalog(), workers.temperature(), provenance);
                folder.keep(settings);
                Path file = folder.fetch(RemoteRunFolder.MODEL);
                ModelFile.write(file, model, card);
                folder.put(file);
            }
            if (interruption.isEmpty()) {
                folder.remove(RemoteRunFolder.CHECKPOINT);
            }
            return interruption;
        }
    }

    private ModelCard card(ImageCatalog catalog, Temperature temperature, SequencedMap<String, String> provenance) {
        return new ModelCard(
                catalog.classes(),
                network.preprocessing(),
                config.options().testPlan(),
                temperature.value(),
                provenance,
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

    /** Number of readable images of both sets. */
    private record Counted(long training, long validation) {
        private static final Pattern TEXT = Pattern.compile("(\\d{1,18}) training, (\\d{1,18}) validation");

        String text() {
            return training + " training, " + validation + " validation";
        }
    }

    /**
     * Returns the provenance of the model by name: images, settings, backbone and program. Runs with equal provenance take the same
     * steps.
     */
    private SequencedMap<String, String> provenance(ImageCatalog catalog, String images) {
        SequencedMap<String, String> provenance = new LinkedHashMap<>();
        provenance.put("fingerprint", sha256(catalog.fingerprint()));
        provenance.put("seed", Long.toString(settings.get(TrainConfig::seed)));
        provenance.put(IMAGES, images);
        provenance.putAll(InitialModel.origin(settings, network));
        // A table has neither; both keys hold placeholders.
        provenance.keySet().removeAll(List.of("config.data.layout", "config.data.protocol"));
        return provenance;
    }

    private static String sha256(String text) {
        return Sha256.hex(Sha256.of(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Returns the number of images of a finished model.
     *
     * @param origin provenance in the model file
     * @throws IOException if the model comes from other images or settings
     */
    private Counted counted(Map<String, String> origin, ImageCatalog catalog) throws IOException {
        Map<String, String> found = new HashMap<>(origin);
        String images = origin.getOrDefault(IMAGES, "");
        found.put(IMAGES, images);
        for (Map.Entry<String, String> entry : provenance(catalog, images).entrySet()) {
            String other = found.getOrDefault(entry.getKey(), "none");
            if (!entry.getValue().equals(other)) {
                throw new IOException("expected a model with " + entry.getKey() + " " + entry.getValue()
                        + ", found one with " + other
                        + "; choose another folder, or resume with the original images and settings");
            }
        }
        Matcher counts = Counted.TEXT.matcher(images);
        if (!counts.matches()) {
            throw new IOException(
                    "expected the number of training images of the model, found " + QuotedText.text(images));
        }
        return new Counted(Long.parseLong(counts.group(1)), Long.parseLong(counts.group(2)));
    }
}
