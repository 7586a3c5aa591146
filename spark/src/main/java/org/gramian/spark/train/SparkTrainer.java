package org.gramian.spark.train;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.xxhash64;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.ImagePrediction;
import org.gramian.evaluate.Temperature;
import org.gramian.image.ImageLimits;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.linear.ClassStatistics;
import org.gramian.linear.Lda;
import org.gramian.linear.LinearModel;
import org.gramian.linear.LinearSolver;
import org.gramian.linear.NearestMean;
import org.gramian.model.Engine;
import org.gramian.model.Head;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.run.InitialModel;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.DefaultResolver;
import org.gramian.run.config.DefaultsContext;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.spark.executor.FeatureTask;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.ModelContent;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.HeadSearch;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.loop.TrainingData;
import org.gramian.train.loop.TwoStageTraining;
import org.gramian.train.recipe.Recipe;

/**
 * Trains a classifier on a table of labelled images with a frozen backbone.
 *
 * <p>Executors compute the features of all images. The driver collects them, at most {@value #HEAP_PERCENT} % of its heap, and trains
 * or solves the head with {@link TwoStageTraining}, as one machine does. For the classifiers {@code lda} and {@code mean} executors
 * compute descriptors and sum their statistics instead ({@link ClassSums}): any number of images fits.
 *
 * @param context device of the driver, listener, cancellation and history
 * @param device of the executors: {@code cpu}, {@code cuda:1}, or {@code auto} for the GPU that Spark assigned to the task
 */
public record SparkTrainer(TrainingContext context, String device) {
    /** Largest part of the driver's heap for features. */
    private static final int HEAP_PERCENT = 60;

    /** Bytes of features of one partition, which the driver fetches at once. */
    private static final long PARTITION_BYTES = 64L << 20;

    /** Validation images from which the temperature of a summed classifier is fitted. */
    private static final int CALIBRATION_IMAGES = 2_000;

    /** Validation fraction of a summed classifier, which cannot be calibrated by cross-validation. */
    private static final double CALIBRATION_FRACTION = 0.1;

    /** Pooling of a summed classifier: a short descriptor without trained parameters. */
    private static final String SUMMED_POOLING = "pca:64/covariance/isqrt:5/triu";

    private static final int SHOWN_ERRORS = 3;

    /**
     * Result of training.
     *
     * @param settings with all defaults
     * @param training number of readable training images
     * @param validation number of validation images
     * @param unreadable number of unreadable images, which were skipped
     */
    public record Outcome(Settings settings, long training, long validation, long unreadable) {}

    /**
     * Trains a model. As with all estimators of Spark, the caller keeps test images out of the table.
     *
     * @param table labelled images, one per row
     * @param requested options by the keys of {@code gramian train}; unset ones get defaults, layout and protocol are ignored
     * @param file receives the model
     * @throws IllegalArgumentException if table or options are invalid, or the features do not fit on the driver; the message has
     *     advice
     * @throws InterruptedTrainingException if cancelled
     * @throws org.gramian.train.loop.NonFiniteLossException if the loss or a gradient is not finite
     */
    public Outcome train(Dataset<Row> table, LabelledImages.Columns columns, Settings requested, Path file)
            throws IOException {
        LabelledImages all = LabelledImages.of(table, columns);
        Settings settings = settings(requested, all.count());
        RunConfig config = RunConfig.of(settings);
        LabelledImages images = columns.validation().isEmpty()
                ? all.split(config.options().validation(), config.recipe().seed())
                : all;
        try (FrozenBackbone network =
                InitialModel.network(config.network(), WeightStore.ofProcess(), context.device(), this::warn)) {
            return new Run(this, images, images.counts(), settings, config, network).train(file);
        }
    }

    private void warn(String sentence) {
        context.listener().accept(new TrainEvent.Warning(sentence));
    }

    private Settings settings(Settings requested, long images) throws IOException {
        if (requested.find(TrainConfig::stage2Epochs).orElse(0) > 0) {
            throw new ConfigException("stage2.epochs: expected 0 on Spark, which trains on a frozen backbone, found "
                    + requested.get(TrainConfig::stage2Epochs) + "; fine-tune with 'gramian train'");
        }
        if (requested.find(TrainConfig::tensorboard).orElse(false)) {
            throw new ConfigException(
                    "tensorboard: expected false on Spark, found true; history.csv in the run's folder has the same"
                            + " values");
        }
        Settings given = requested.orElse("stage2.epochs", 0, "Spark trains on a frozen backbone");
        if (requested
                .find(TrainConfig::classifier)
                .flatMap(solver -> solver)
                .filter(SparkTrainer::isSummable)
                .isPresent()) {
            String reason = "the statistics of the classifier are summed on executors";
            given = given.orElse("network.pooling", SUMMED_POOLING, reason)
                    .orElse("data.validation", CALIBRATION_FRACTION, reason);
        }
        return DefaultResolver.complete(
                given,
                new DefaultsContext(
                        "folders", // a placeholder: tables have no layout
                        Protocols.parse("holdout"),
                        Math.toIntExact(images),
                        0, // no learned head competes
                        WeightStore.ofProcess().available(),
                        context.device().kind()));
    }

    private static boolean isSummable(LinearSolver solver) {
        return solver instanceof Lda || solver instanceof NearestMean;
    }

    /** @throws IllegalArgumentException if a class has no readable training image */
    static void requireReadable(long count, String name, String example) {
        if (count == 0) {
            throw new IllegalArgumentException("no readable training image of " + QuotedText.text(name) + example
                    + "; 'gramian spark audit' finds the cause; replace the images, or remove the class");
        }
    }

    /** @throws IllegalArgumentException if features exceed the limit of the driver */
    static void requireRoom(long images, long bytes, long limit) {
        if (bytes > limit) {
            throw new IllegalArgumentException(String.format(
                    Locale.ROOT,
                    "%,d images have %.1f GiB of features, more than the %.1f GiB that the driver can collect (%d %% of"
                            + " its heap); use the classifier lda or mean, whose statistics executors sum, fewer or"
                            + " smaller crops, a layer or pooling with smaller features, or more memory with"
                            + " --driver-memory",
                    images,
                    bytes / 0x1p30,
                    limit / 0x1p30,
                    HEAP_PERCENT));
        }
    }

    /**
     * Features of the readable images of a set.
     *
     * @param samples sorted by name
     * @param crops features of the crops of each image by its name
     * @param errors of unreadable images by name
     */
    private record Collected(
            List<Sample> samples, Map<String, List<MemorySegment>> crops, Map<String, String> errors) {}

    /** Training on one table. */
    private record Run(
            SparkTrainer trainer,
            LabelledImages images,
            LabelledImages.Counts counts,
            Settings settings,
            RunConfig config,
            FrozenBackbone network) {
        private TrainingContext context() {
            return trainer.context;
        }

        private long seed() {
            return config.recipe().seed();
        }

        private Crops crops(boolean training) {
            return training
                    ? config.options().crops().training(seed())
                    : config.options().testPlan().testing();
        }

        private FeatureExtraction extraction() {
            FeatureExtractor extractor = new FeatureExtractor(
                    network, FeatureExtractor.DEFAULT_BATCH, config.options().featureType());
            return new FeatureExtraction(extractor, ImageLimits.DEFAULT, Optional.empty());
        }

        /** Returns the bytes of the features of all crops of an image. */
        private long bytes(boolean training) {
            return extraction().extractor().bytes(crops(training))
                    * crops(training).count();
        }

        Outcome train(Path file) throws IOException {
            Optional<LinearSolver> solver = config.recipe().solver().filter(SparkTrainer::isSummable);
            if (solver.isPresent()
                    && settings.wanted().has("network.classifier")
                    && !config.network().auto()) {
                Head head = head(config.network().pooling());
                long size = head.pooling().descriptorSize(network.backbone().channels());
                if (solver.get() instanceof NearestMean || ClassSums.fits(size)) {
                    return sum(head, Math.toIntExact(size), solver.get(), file);
                }
            }
            return collect(file);
        }

        private Head head(Pooling pooling) {
            return config.network().with(pooling).head(images.classes().size(), Math.toIntExact(trainingImages()));
        }

        private long trainingImages() {
            return Arrays.stream(counts.training()).sum();
        }

        /** Trains or solves the head on the driver. */
        private Outcome collect(Path file) throws IOException {
            requireRoom(
                    trainingImages() + counts.validation(),
                    trainingImages() * bytes(true) + counts.validation() * bytes(false),
                    Runtime.getRuntime().maxMemory() / 100 * HEAP_PERCENT);
            ModelContent backbone = backbone();
            Collected training = collect(features(images.part(false), backbone, true, false), crops(true));
            Collected validation = counts.validation() == 0
                    ? new Collected(List.of(), Map.of(), Map.of())
                    : collect(features(images.part(true), backbone, false, false), crops(false));
            requireEveryClass(training);
            TrainingData data = new TrainingData(
                    new TrainingData.Parts(training.samples, validation.samples, List.of()),
                    crops(true),
                    crops(false),
                    extraction(),
                    Map.of(),
                    Optional.of((samples, crops) -> table(samples, crops, training, validation)));
            Pooling pooling =
                    config.network().auto() ? selected(data) : config.network().pooling();
            try (Model model = InitialModel.model(head(pooling), seed(), network)) {
                Recipe recipe =
                        config.recipe().solver().isPresent() ? config.recipe().frozen() : config.recipe();
                new TwoStageTraining(model, recipe, data, context())
                        .run((outcome, scores) -> write(
                                file,
                                model,
                                predictions(
                                        validation.samples, scores.validation().compute()),
                                outcome.classifier().map(TrainEvent.Solved::text),
                                outcome.classifier().flatMap(TrainEvent.Solved::calibration)))
                        .filter(Cancellation.Reason.CANCELLED::equals)
                        .ifPresent(reason -> {
                            throw new InterruptedTrainingException(reason);
                        });
            }
            long unreadable = (long) training.errors.size() + validation.errors.size();
            return new Outcome(settings, training.samples.size(), validation.samples.size(), unreadable);
        }

        private Pooling selected(TrainingData data) throws IOException {
            Optional<HeadSearch.Result> result = new HeadSearch(
                            data,
                            context(),
                            images.classes().size(),
                            config.recipe().solver(),
                            seed())
                    .run();
            result.ifPresent(found -> context().listener().accept(found.chosen()));
            return result.map(found -> Pooling.parse(found.best().pooling()))
                    .orElse(config.network().pooling());
        }

        private FeatureTable table(List<Sample> samples, Crops wanted, Collected training, Collected validation) {
            boolean test = samples.isEmpty()
                    || validation.crops.containsKey(samples.getFirst().name());
            Crops stored = test ? crops(false) : crops(true);
            Crops crops = wanted.count() == stored.count() ? stored : stored.first();
            Map<String, List<MemorySegment>> all = test ? validation.crops : training.crops;
            List<MemorySegment> rows = samples.stream()
                    .flatMap(sample -> Objects.requireNonNull(all.get(sample.name())).stream()
                            .limit(crops.count()))
                    .toList();
            return FeatureTable.of(extraction(), samples, crops, rows);
        }

        /** Returns the rows of a {@link FeatureTask}. */
        private JavaRDD<Row> features(Dataset<Row> rows, ModelContent model, boolean training, boolean descriptors) {
            SparkSession spark = rows.sparkSession();
            CropPlan plan =
                    training ? config.options().crops() : config.options().testPlan();
            FeatureTask task = new FeatureTask(
                    model.share(spark.sparkContext()),
                    ImageColumn.of(LabelledImages.IMAGE, spark),
                    plan.text(),
                    training ? seed() : null,
                    config.options().featureType(),
                    descriptors,
                    trainer.device);
            long count = training ? trainingImages() : counts.validation();
            long cores = Math.min(spark.sparkContext().defaultParallelism(), count);
            int tasks = Math.toIntExact(Math.max(cores, Math.ceilDiv(count * bytes(training), PARTITION_BYTES)));
            return rows.repartition(tasks).javaRDD().mapPartitions(task);
        }

        /** Computes features in parallel, then fetches them one partition at a time. */
        private Collected collect(JavaRDD<Row> features, Crops crops) {
            features.persist(StorageLevel.DISK_ONLY());
            try {
                long all = features.count();
                Map<String, Row> byName = new TreeMap<>();
                for (var rows = features.toLocalIterator(); rows.hasNext(); ) {
                    context().measuring(new TrainEvent.Task("collecting features", byName.size(), all));
                    Row row = rows.next();
                    if (byName.put(row.getString(0), row) != null) {
                        throw new IllegalArgumentException("expected unique names of images, found "
                                + QuotedText.text(row.getString(0)) + " twice");
                    }
                }
                List<Sample> samples = new ArrayList<>();
                Map<String, List<MemorySegment>> found = new LinkedHashMap<>();
                Map<String, String> errors = new LinkedHashMap<>();
                long bytes = extraction().extractor().bytes(crops);
                byName.forEach((name, row) -> {
                    if (row.isNullAt(2)) {
                        errors.put(name, row.getString(3));
                    } else {
                        samples.add(new Sample(name, row.getInt(1), Path.of("")));
                        MemorySegment values = MemorySegment.ofArray((byte[]) row.get(2));
                        found.put(
                                name,
                                IntStream.range(0, crops.count())
                                        .mapToObj(crop -> values.asSlice(crop * bytes, bytes))
                                        .toList());
                    }
                });
                warnUnreadable(errors);
                return new Collected(samples, found, errors);
            } finally {
                features.unpersist();
            }
        }

        private void warnUnreadable(Map<String, String> errors) {
            if (!errors.isEmpty()) {
                trainer.warn(errors.size() + " images cannot be read and are skipped, for example "
                        + errors.entrySet().stream()
                                .limit(SHOWN_ERRORS)
                                .map(error -> QuotedText.text(error.getKey()) + " (" + error.getValue() + ")")
                                .collect(Collectors.joining(", ")));
            }
        }

        private void requireEveryClass(Collected training) {
            long[] readable = new long[images.classes().size()];
            training.samples.forEach(sample -> readable[sample.label()]++);
            String example = training.errors.entrySet().stream()
                    .findFirst()
                    .map(error -> " (" + QuotedText.text(error.getKey()) + ": " + error.getValue() + ")")
                    .orElse("");
            for (int label = 0; label < readable.length; label++) {
                requireReadable(readable[label], images.classes().get(label), example);
            }
        }

        /** Solves the classifier from statistics that executors sum. */
        private Outcome sum(Head head, int size, LinearSolver solver, Path file) throws IOException {
            try (Model model = InitialModel.model(head, seed(), network)) {
                fitPooling(model);
                ModelContent content = content(model, config.options().testPlan());
                JavaRDD<Row> training = features(images.part(false), content, true, true);
                training.persist(StorageLevel.DISK_ONLY());
                ClassSums.Summed summed;
                try {
                    summed = ClassSums.of(
                            training,
                            images.classes(),
                            size,
                            solver instanceof Lda,
                            config.recipe().loss());
                } finally {
                    training.unpersist();
                }
                String solved = assign(solver, summed.statistics(), model);
                List<Row> validation = counts.validation() == 0
                        ? List.of()
                        : features(images.part(true), content, false, true).take(CALIBRATION_IMAGES).stream()
                                .filter(row -> !row.isNullAt(2))
                                .toList();
                write(file, model, score(model, validation, size), Optional.of(solved), Optional.empty());
                long unreadable = trainingImages() - summed.images();
                if (unreadable > 0) {
                    trainer.warn(
                            unreadable + " images cannot be read and are skipped; 'gramian spark audit' lists them");
                }
                return new Outcome(settings, summed.images(), counts.validation(), unreadable);
            }
        }

        /** Fits the pooling to the first crop of some training images, selected by hashes of their names. */
        private void fitPooling(Model model) throws IOException {
            Pooling pooling = model.head().pooling();
            if (!Fitting.isNeeded(pooling)) {
                return;
            }
            Dataset<Row> some = images.part(false)
                    .orderBy(xxhash64(lit(seed()), col("name")), col("name"))
                    .limit(Fitting.images(pooling));
            Collected sample = collect(features(some, backbone(), true, false), crops(true));
            try (Scope _ = Scope.open();
                    FeatureTable table = table(
                            sample.samples,
                            crops(true).first(),
                            sample,
                            new Collected(List.of(), Map.of(), Map.of()))) {
                Fitting.fit(
                        pooling,
                        table.rows(IntStream.range(0, table.count()).toArray()),
                        model.headParameters().under(Head.POOLING),
                        new SplittableRandom(seed()));
            }
        }

        /** Solves the classifier and sets its parameters; returns its text. */
        private String assign(LinearSolver solver, ClassStatistics statistics, Model model) {
            try (Scope _ = Scope.open()) {
                LinearModel found = solver instanceof Lda lda ? lda.fit(statistics) : new NearestMean().fit(statistics);
                model.headParameters()
                        .assign(Map.of(
                                Head.CLASSIFIER + ".weight", found.weight(), Head.CLASSIFIER + ".bias", found.bias()));
                TrainEvent.Solved solved = new TrainEvent.Solved(solver.text(), found.found());
                context().listener().accept(solved);
                return solver.text();
            }
        }

        /** Scores images by the classifier of a model on their descriptors. */
        private List<ImagePrediction> score(Model model, List<Row> rows, int size) {
            List<ImagePrediction> predictions = new ArrayList<>();
            try (Scope _ = Scope.open()) {
                Tensor weight =
                        model.headParameters().get(Head.CLASSIFIER + ".weight").value();
                Tensor bias =
                        model.headParameters().get(Head.CLASSIFIER + ".bias").value();
                for (Row row : rows) {
                    try (Scope _ = Scope.open()) {
                        float[] crops = FeatureTask.descriptors(row);
                        Tensor descriptors = Tensors.copyOf(
                                MemorySegment.ofArray(crops), DType.F32, Shape.of(crops.length / size, size));
                        Tensor scores = descriptors.matmul(weight.transpose()).add(bias);
                        predictions.add(new ImagePrediction(
                                row.getString(0), row.getInt(1), Logits.ofCrops(Engine.toRows(scores))));
                    }
                }
            }
            return predictions;
        }

        private List<ImagePrediction> predictions(List<Sample> samples, List<Logits> logits) {
            return IntStream.range(0, samples.size())
                    .mapToObj(i -> new ImagePrediction(
                            samples.get(i).name(), samples.get(i).label(), logits.get(i)))
                    .toList();
        }

        /**
         * Writes the model, calibrated on the validation set.
         *
         * @param calibrated what calibrated the scores before
         */
        private void write(
                Path file,
                Model model,
                List<ImagePrediction> validation,
                Optional<String> classifier,
                Optional<String> calibrated)
                throws IOException {
            SequencedMap<String, String> origin = new LinkedHashMap<>();
            origin.put("seed", Long.toString(seed()));
            origin.put("images", trainingImages() + " training, " + counts.validation() + " validation");
            origin.putAll(InitialModel.origin(settings, network));
            origin.keySet().removeAll(List.of("config.data.layout", "config.data.protocol")); // placeholders
            classifier.ifPresent(text -> origin.put("classifier", text));
            LinkedHashMap<String, Double> metrics = new LinkedHashMap<>();
            if (!validation.isEmpty()) {
                long right = validation.stream()
                        .filter(one -> one.logits().top() == one.truth())
                        .count();
                metrics.put("validation-accuracy", (double) right / validation.size());
            }
            Temperature temperature = validation.isEmpty()
                    ? calibrated.map(by -> new Temperature(1, by)).orElse(Temperature.NONE)
                    : Temperature.fit(validation, calibrated);
            origin.put(Temperature.CALIBRATION, temperature.source());
            ModelFile.write(file, model, card(config.options().testPlan(), temperature.value(), origin, metrics));
        }

        private ModelCard card(
                CropPlan crops,
                double temperature,
                SequencedMap<String, String> origin,
                SequencedMap<String, Double> metrics) {
            return new ModelCard(images.classes(), network.preprocessing(), crops, temperature, origin, metrics);
        }

        /** Returns the backbone as a model file with the smallest possible head: that of the run may need fitting first. */
        private ModelContent backbone() throws IOException {
            Head head = new Head(Pooling.parse("average"), images.classes().size(), false);
            try (ParameterSet parameters = ParameterSet.initialize(
                    head.parameters(network.backbone().channels()),
                    new SplittableRandom(0),
                    DType.F32,
                    network.device())) {
                Model model = new Model(network.backbone(), network.parameters(), head, parameters, network.device());
                return content(model, config.options().crops());
            }
        }

        private ModelContent content(Model model, CropPlan crops) throws IOException {
            Path file = Files.createTempFile("gramian-backbone-", ".safetensors");
            try {
                ModelFile.write(file, model, card(crops, 1, new LinkedHashMap<>(), new LinkedHashMap<>()));
                return ModelContent.of(Files.readAllBytes(file), "the backbone " + network.backbone());
            } finally {
                Files.delete(file);
            }
        }
    }
}
