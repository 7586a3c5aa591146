package org.gramian.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.param.LongParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.StringArrayParam;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.Identifiable;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.ml.util.MLWritable;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.types.StructType;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.Settings;
import org.gramian.spark.executor.ModelContent;
import org.gramian.spark.train.LabelledImages;
import org.gramian.spark.train.SparkTrainer;
import org.gramian.tensor.Device;
import org.gramian.train.loop.TrainingContext;

/**
 * Trains a {@link GramianModel} on a column of labelled images: executors compute features of a frozen backbone, the driver trains the
 * head on them, see {@link SparkTrainer}.
 *
 * <pre>{@code
 * GramianClassifier classifier =
 *         new GramianClassifier().setInputCol("path").setLabelCol("label").setBackbone("googlenet").setClassifier("lda");
 * GramianModel model = classifier.fit(labelled);                   // path STRING, label STRING
 * }</pre>
 *
 * <p>An unset key gets the default of {@code gramian train} and has no value here ({@link #isSet}); {@link #setSettings} sets keys
 * without a parameter.
 */
public final class GramianClassifier extends Estimator<GramianModel>
        implements GramianParams<GramianClassifier>, MLWritable {
    private final String uid;

    public GramianClassifier() {
        this(Identifiable.randomUID("gramianClassifier"));
    }

    /** Creates a classifier with a uid, for Spark. */
    public GramianClassifier(String uid) {
        this.uid = uid;
        setDefaults();
        setDefault(nameCol(), "path");
        setDefault(labelCol(), "label");
        setDefault(validationIndicatorCol(), "");
    }

    /** Loads what {@link #write} saved. */
    public static MLReader<GramianClassifier> read() {
        return new DefaultParamsReader<>();
    }

    /** Loads what {@link #save} saved. */
    public static GramianClassifier load(String path) {
        return read().load(path);
    }

    @Override
    public GramianModel fit(Dataset<?> dataset) {
        transformSchema(dataset.schema());
        try {
            Path file = Files.createTempFile("gramian-model-", ".safetensors");
            try {
                SparkTrainer.train(
                        dataset.toDF(),
                        columns(),
                        requested(),
                        TrainingContext.of(Device.CPU),
                        getOrDefault(device()),
                        file);
                ModelContent content = ModelContent.of(Files.readAllBytes(file), "the trained model");
                GramianModel model = new GramianModel(Identifiable.randomUID("gramianModel"), content);
                return copyValues(model, new ParamMap()).setParent(this);
            } finally {
                Files.delete(file);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private LabelledImages.Columns columns() {
        return new LabelledImages.Columns(
                getOrDefault(inputCol()),
                getOrDefault(nameCol()),
                getOrDefault(labelCol()),
                getOrDefault(validationIndicatorCol()));
    }

    /**
     * Returns all options.
     *
     * @throws ConfigException if a key or a value is invalid
     */
    Settings requested() {
        Settings requested = Settings.NONE;
        for (Param<?> parameter : List.of(backbone(), pooling(), classifier(), seed())) {
            if (isSet(parameter)) {
                String key = parameter.name().equals("seed") ? "seed" : "network." + parameter.name();
                requested = requested.with(key, String.valueOf(getOrDefault(parameter)));
            }
        }
        for (String setting : isSet(settings()) ? getOrDefault(settings()) : new String[0]) {
            int equals = setting.indexOf('=');
            if (equals < 0) {
                throw new ConfigException("expected settings as key=value, found '" + setting + "'");
            }
            requested = requested.with(setting.substring(0, equals), setting.substring(equals + 1));
        }
        return requested;
    }

    /**
     * Returns the schema with the output columns of the model.
     *
     * @throws IllegalArgumentException if an input column is missing, or an output column exists already
     */
    @Override
    public StructType transformSchema(StructType schema) {
        StructType appended = GramianModel.appended(schema, this);
        columns().requireIn(schema);
        return appended;
    }

    @Override
    public String uid() {
        return uid;
    }

    @Override
    public GramianClassifier copy(ParamMap extra) {
        return defaultCopy(extra);
    }

    @Override
    public MLWriter write() {
        return new DefaultParamsWriter(this);
    }

    private Param<String> text(String name, String doc) {
        return new Param<>(uid, name, doc, String.class);
    }

    /** Name of the backbone. */
    public Param<String> backbone() {
        return text("backbone", ConfigKey.of("network.backbone").help());
    }

    public GramianClassifier setBackbone(String name) {
        return with(backbone(), name);
    }

    /** Pooling, as {@code conv:512/rbf/spd:128/relu/triu/root/l2}. */
    public Param<String> pooling() {
        return text("pooling", ConfigKey.of("network.pooling").help());
    }

    public GramianClassifier setPooling(String stages) {
        return with(pooling(), stages);
    }

    /** Classifier, as {@code svm}, {@code lda} or {@code softmax}. */
    public Param<String> classifier() {
        return text("classifier", ConfigKey.of("network.classifier").help());
    }

    public GramianClassifier setClassifier(String name) {
        return with(classifier(), name);
    }

    /** Random seed. */
    public LongParam seed() {
        return new LongParam(uid, "seed", ConfigKey.of("seed").help());
    }

    public GramianClassifier setSeed(long number) {
        return with(seed(), number);
    }

    /** Additional keys of {@code gramian train}, each as {@code key=value}: {@code stage1.epochs=8}. */
    public StringArrayParam settings() {
        return new StringArrayParam(this, "settings", "additional keys of 'gramian train', each as key=value");
    }

    public GramianClassifier setSettings(String... keysAndValues) {
        return with(settings(), keysAndValues.clone());
    }

    /** Column of unique image names, which define the order of images and their random crops. */
    public Param<String> nameCol() {
        return text("nameCol", "column of unique image names, which define the order");
    }

    public GramianClassifier setNameCol(String column) {
        return with(nameCol(), column);
    }

    /** Column of labels. */
    public Param<String> labelCol() {
        return text("labelCol", "column of labels: class names (string) or class indices (numbers)");
    }

    public GramianClassifier setLabelCol(String column) {
        return with(labelCol(), column);
    }

    /** Column that marks validation images; empty to select a fraction. */
    public Param<String> validationIndicatorCol() {
        return text("validationIndicatorCol", "column that marks the validation images (boolean), or empty");
    }

    public GramianClassifier setValidationIndicatorCol(String column) {
        return with(validationIndicatorCol(), column);
    }
}
