package org.gramian.spark.train;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.xxhash64;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Protocol;
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
 */
public final class SparkTrainer {
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

    private final TrainingContext context;
    private final String device;
    private final LabelledImages images;
    private final Settings settings;
    private final RunConfig config;
    private final FrozenBackbone network;
    private final FeatureExtraction extraction;
    private final Crops trainingCrops;
    private final Crops testCrops;
    private final long training;
    private final long validation;

    private SparkTrainer(
            TrainingContext context, String device, LabelledImages images, Settings settings, FrozenBackbone network) {
        this.context = context;
        this.device = device;
        this.images = images;
        this.settings = settings;
        this.config = RunConfig.of(settings);
        this.network = network;
        FeatureExtractor extractor =
                new FeatureExtractor(network, FeatureExtractor.DEFAULT_BATCH, config.get(TrainConfig.FEATURE_TYPE));
        this.extraction = new FeatureExtraction(extractor, Optional.empty());
        this.trainingCrops = config.trainingCrops();
        this.testCrops = config.testPlan().testing();
        LabelledImages.Counts counts = images.counts();
        this.training = counts.training();
        this.validation = counts.validation();
    }

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
     * @param context device of the driver, listener, cancellation and history
     * @param device of the executors: {@code cpu}, {@code cuda:1}, or {@code auto} for the GPU that Spark assigned to the task
     * @param file receives the model
     * @throws IllegalArgumentException if table or options are invalid, or the features do not fit on the driver; the message has
     *     advice
     * @throws InterruptedTrainingException if cancelled
     * @throws org.gramian.train.loop.NonFiniteLossException if the loss or a gradient is not finite
     */
    public static Outcome train(
            Dataset<Row> table,
            LabelledImages.Columns columns,
            Settings requested,
            TrainingContext context,
            String device,
            Path file)
            throws IOException {
        LabelledImages all = LabelledImages.of(table, columns);
        Settings settings = complete(requested, all.count(), context);
        RunConfig config = RunConfig.of(settings);
        LabelledImages images = columns.validation().isEmpty()
                ? all.split(config.get(TrainConfig.VALIDATION), config.recipe().seed())
                : all;
        try (FrozenBackbone network =
                InitialModel.network(config.network(), WeightStore.ofProcess(), context.device(), context::warn)) {
            return new SparkTrainer(context, device, images, settings, network).train(file);
        }
    }

    private static Settings complete(Settings requested, long images, TrainingContext context) throws IOException {
        if (requested.find(TrainConfig.STAGE2_EPOCHS).orElse(0) > 0) {
            throw new ConfigException("stage2.epochs: expected 0 on Spark, which trains on a frozen backbone, found "
                    + requested.get(TrainConfig.STAGE2_EPOCHS) + "; fine-tune with 'gramian train'");
        }
        Settings given = requested.orElse("stage2.epochs", 0, "Spark trains on a frozen backbone");
        if (requested
                .find(TrainConfig.CLASSIFIER)
                .flatMap(solver -> solver)
                .filter(SparkTrainer::isSummable)
                .isPresent()) {
            String reason = "the statistics of the classifier are summed on executors";
            given = given.orElse("network.pooling", SUMMED_POOLING, reason)
                    .orElse("data.validation", CALIBRATION_FRACTION, reason);
        }
        return DefaultResolver.complete(
                given,
                new DefaultResolver.Context(
                        "folders", // a placeholder: tables have no layout
                        Protocol.parse("holdout"),
                        Math.toIntExact(images),
                        0, // no learned head competes
                        WeightStore.ofProcess().available(),
                        context.device().kind()));
    }

    private static boolean isSummable(LinearSolver solver) {
        return solver instanceof Lda || solver instanceof NearestMean;
    }

    static void requireReadable(long[] counts, List<String> classes) {
        for (int label = 0; label < counts.length; label++) {
            if (counts[label] == 0) {
                throw new IllegalArgumentException("no readable training image of "
                        + QuotedText.text(classes.get(label))
                        + "; 'gramian spark audit' finds the cause; replace the images, or remove the class");
            }
        }
    }

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

    private long seed() {
        return config.recipe().seed();
    }

    private long bytes(Crops crops) {
        return extraction.extractor().bytes(crops) * crops.count();
    }

    private Outcome train(Path file) throws IOException {
        Optional<LinearSolver> solver = config.recipe().solver().filter(SparkTrainer::isSummable);
        if (solver.isPresent()
                && settings.wanted().has("network.classifier")
                && !config.network().auto()) {
            Head head = head(config.network().pooling());
            long size = head.pooling().descriptorSize(network.backbone().channels());
            if (solver.get() instanceof NearestMean || ClassSums.fits(size)) {
                return trainOnStatistics(head, Math.toIntExact(size), solver.get(), file);
            }
        }
        return trainOnFeatures(file);
    }

    private Head head(Pooling pooling) {
        return config.network().with(pooling).head(images.classes().size(), Math.toIntExact(training));
    }

    /** Trains or solves the head on the driver. */
    private Outcome trainOnFeatures(Path file) throws IOException {
        requireRoom(
                training + validation,
                training * bytes(trainingCrops) + validation * bytes(testCrops),
                Runtime.getRuntime().maxMemory() / 100 * HEAP_PERCENT);
        ModelContent backbone = backbone();
        Collected trained = collect(features(images.part(false), training, backbone, true, false), trainingCrops);
        Collected validated = validation == 0
                ? new Collected(testCrops, List.of(), Map.of(), 0)
                : collect(features(images.part(true), validation, backbone, false, false), testCrops);
        long[] readable = new long[images.classes().size()];
        trained.samples.forEach(sample -> readable[sample.label()]++);
        requireReadable(readable, images.classes());
        TrainingData data = new TrainingData(
                new TrainingData.Parts(trained.samples, validated.samples, List.of()),
                trainingCrops,
                testCrops,
                extraction,
                Map.of(),
                Optional.of((samples, crops) -> {
                    boolean isValidation = samples.isEmpty()
                            || validated.features.containsKey(samples.getFirst().name());
                    return (isValidation ? validated : trained).table(extraction, samples, crops);
                }));
        Pooling pooling =
                config.network().auto() ? selected(data) : config.network().pooling();
        try (Model model = InitialModel.model(head(pooling), seed(), network)) {
            Recipe recipe =
                    config.recipe().solver().isPresent() ? config.recipe().frozen() : config.recipe();
            new TwoStageTraining(model, recipe, data, context)
                    .run((outcome, scores) -> {
                        List<Logits> logits = scores.validation().get();
                        write(
                                file,
                                model,
                                IntStream.range(0, logits.size())
                                        .mapToObj(i -> new ImagePrediction(
                                                validated.samples.get(i).name(),
                                                validated.samples.get(i).label(),
                                                logits.get(i)))
                                        .toList(),
                                outcome.classifier().map(TrainEvent.Solved::text),
                                outcome.classifier().flatMap(TrainEvent.Solved::calibration));
                    })
                    .filter(Cancellation.Reason.CANCELLED::equals)
                    .ifPresent(reason -> {
                        throw new InterruptedTrainingException(reason);
                    });
        }
        return outcome(trained.samples.size(), validated.samples.size(), trained.unreadable + validated.unreadable);
    }

    private Outcome outcome(long trained, long validated, long unreadable) {
        if (unreadable > 0) {
            context.warn(unreadable + " images cannot be read and are skipped; 'gramian spark audit' lists them");
        }
        return new Outcome(settings, trained, validated, unreadable);
    }

    private Pooling selected(TrainingData data) throws IOException {
        Optional<HeadSearch.Result> result = new HeadSearch(
                        data, context, images.classes().size(), config.recipe().solver(), seed())
                .run()
                .map(HeadSearch.Found::result);
        result.ifPresent(found -> context.send(found.chosen()));
        return result.map(found -> Pooling.parse(found.best().pooling()))
                .orElse(config.network().pooling());
    }

    /**
     * Features of a set of images.
     *
     * @param samples the readable images, sorted by name
     * @param features of the crops of each image by its name
     */
    private record Collected(
            Crops crops, List<Sample> samples, Map<String, List<MemorySegment>> features, long unreadable) {
        /** Returns the features of some images: all crops, or the first of each. */
        FeatureTable table(FeatureExtraction extraction, List<Sample> some, Crops wanted) {
            Crops used = wanted.count() == crops.count() ? crops : crops.first();
            List<MemorySegment> rows = some.stream()
                    .flatMap(sample -> Objects.requireNonNull(features.get(sample.name())).stream()
                            .limit(used.count()))
                    .toList();
            return FeatureTable.of(extraction, some, used, rows);
        }
    }

    /** Returns the rows of a {@link FeatureTask}. */
    private JavaRDD<Row> features(
            Dataset<Row> rows, long count, ModelContent model, boolean isTraining, boolean descriptors) {
        SparkSession spark = rows.sparkSession();
        FeatureTask task = new FeatureTask(
                model.share(spark.sparkContext()),
                ImageColumn.of(LabelledImages.IMAGE, spark),
                (isTraining ? config.get(TrainConfig.CROPS) : config.testPlan()).text(),
                isTraining ? seed() : null,
                config.get(TrainConfig.FEATURE_TYPE),
                descriptors,
                device);
        long cores = Math.min(spark.sparkContext().defaultParallelism(), count);
        long bytes = count * bytes(isTraining ? trainingCrops : testCrops);
        int tasks = Math.toIntExact(Math.max(cores, Math.ceilDiv(bytes, PARTITION_BYTES)));
        return rows.repartition(tasks).javaRDD().mapPartitions(task);
    }

    /** Computes features in parallel, then fetches them one partition at a time. */
    private Collected collect(JavaRDD<Row> rows, Crops crops) {
        rows.persist(StorageLevel.DISK_ONLY());
        try {
            long all = rows.count();
            Map<String, Row> byName = new TreeMap<>();
            for (var fetched = rows.toLocalIterator(); fetched.hasNext(); ) {
                context.measuring(new TrainEvent.Task("collecting features", byName.size(), all));
                Row row = fetched.next();
                if (byName.put(row.getString(0), row) != null) {
                    throw new IllegalArgumentException(
                            "expected unique names of images, found " + QuotedText.text(row.getString(0)) + " twice");
                }
            }
            List<Sample> samples = new ArrayList<>();
            Map<String, List<MemorySegment>> features = new HashMap<>();
            long bytes = extraction.extractor().bytes(crops);
            byName.values().stream().filter(row -> !row.isNullAt(2)).forEach(row -> {
                samples.add(new Sample(row.getString(0), row.getInt(1), Path.of("")));
                MemorySegment values = MemorySegment.ofArray((byte[]) row.get(2));
                features.put(
                        row.getString(0),
                        IntStream.range(0, crops.count())
                                .mapToObj(crop -> values.asSlice(crop * bytes, bytes))
                                .toList());
            });
            return new Collected(crops, samples, features, all - samples.size());
        } finally {
            rows.unpersist();
        }
    }

    /** Solves the classifier from statistics that executors sum. */
    private Outcome trainOnStatistics(Head head, int size, LinearSolver solver, Path file) throws IOException {
        try (Model model = InitialModel.model(head, seed(), network)) {
            fitPooling(model);
            ModelContent content = content(model, config.testPlan());
            JavaRDD<Row> rows = features(images.part(false), training, content, true, true);
            rows.persist(StorageLevel.DISK_ONLY());
            ClassSums.Summed summed;
            try {
                summed = ClassSums.of(
                        rows,
                        images.classes(),
                        size,
                        solver instanceof Lda,
                        config.recipe().loss());
            } finally {
                rows.unpersist();
            }
            assign(solver, summed.statistics(), model);
            List<Row> some = validation == 0
                    ? List.of()
                    : features(images.part(true), validation, content, false, true).take(CALIBRATION_IMAGES).stream()
                            .filter(row -> !row.isNullAt(2))
                            .toList();
            write(file, model, score(model, some, size), Optional.of(solver.text()), Optional.empty());
            return outcome(summed.images(), validation, training - summed.images());
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
        Collected sample = collect(features(some, training, backbone(), true, false), trainingCrops);
        try (Scope _ = Scope.open();
                FeatureTable table = sample.table(extraction, sample.samples, trainingCrops.first())) {
            Fitting.fit(
                    pooling,
                    table.rows(IntStream.range(0, table.count()).toArray()),
                    model.headParameters().under(Head.POOLING),
                    new SplittableRandom(seed()));
        }
    }

    /** Solves the classifier and sets its parameters. */
    private void assign(LinearSolver solver, ClassStatistics statistics, Model model) {
        try (Scope _ = Scope.open()) {
            LinearModel found = solver instanceof Lda lda ? lda.fit(statistics) : new NearestMean().fit(statistics);
            model.headParameters()
                    .assign(Map.of(
                            Head.CLASSIFIER + ".weight", found.weight(), Head.CLASSIFIER + ".bias", found.bias()));
            context.send(new TrainEvent.Solved(solver.text(), found.found()));
        }
    }

    /** Scores images by the classifier of a model on their descriptors. */
    private static List<ImagePrediction> score(Model model, List<Row> rows, int size) {
        List<ImagePrediction> predictions = new ArrayList<>();
        Tensor weight = model.headParameters().get(Head.CLASSIFIER + ".weight").value();
        Tensor bias = model.headParameters().get(Head.CLASSIFIER + ".bias").value();
        for (Row row : rows) {
            try (Scope _ = Scope.open()) {
                float[] crops = FeatureTask.descriptors(row);
                Tensor descriptors =
                        Tensors.copyOf(MemorySegment.ofArray(crops), DType.F32, Shape.of(crops.length / size, size));
                Tensor scores = descriptors.matmul(weight.transpose()).add(bias);
                predictions.add(
                        new ImagePrediction(row.getString(0), row.getInt(1), Logits.ofCrops(Engine.toRows(scores))));
            }
        }
        return predictions;
    }

    /**
     * Writes the model, calibrated on the validation set.
     *
     * @param calibrated what calibrated the scores before
     */
    private void write(
            Path file,
            Model model,
            List<ImagePrediction> predictions,
            Optional<String> classifier,
            Optional<String> calibrated)
            throws IOException {
        SequencedMap<String, String> origin = new LinkedHashMap<>();
        origin.put("seed", Long.toString(seed()));
        origin.put("images", training + " training, " + validation + " validation");
        origin.putAll(InitialModel.origin(settings, network));
        origin.keySet().removeAll(List.of("config.data.layout", "config.data.protocol")); // placeholders
        classifier.ifPresent(text -> origin.put("classifier", text));
        SequencedMap<String, Double> metrics = new LinkedHashMap<>();
        if (!predictions.isEmpty()) {
            long right = predictions.stream()
                    .filter(one -> one.logits().top() == one.truth())
                    .count();
            metrics.put("validation-accuracy", (double) right / predictions.size());
        }
        Temperature temperature = predictions.isEmpty()
                ? calibrated.map(by -> new Temperature(1, by)).orElse(Temperature.NONE)
                : Temperature.fit(predictions, calibrated);
        origin.put(Temperature.CALIBRATION, temperature.source());
        ModelFile.write(file, model, card(config.testPlan(), temperature.value(), origin, metrics));
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
                head.parameters(network.backbone().channels()), new SplittableRandom(0), DType.F32, network.device())) {
            Model model = new Model(network.backbone(), network.parameters(), head, parameters, network.device());
            return content(model, config.get(TrainConfig.CROPS));
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
