package org.gramian.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.IntParam;
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
import org.gramian.spark.executor.Output;
import org.gramian.spark.executor.TaskResources;
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
        implements PredictionParams<GramianClassifier>, MLWritable {
    private final String uid;

    public GramianClassifier() {
        this(Identifiable.randomUID("gramianClassifier"));
    }

    /** Creates a classifier with a uid, for Spark. */
    public GramianClassifier(String uid) {
        this.uid = uid;
        ModelStage.setDefaults(this);
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
        TaskResources.requireDeviceName("device", getDevice());
        try {
            Path file = Files.createTempFile("gramian-model-", ".safetensors");
            try {
                new SparkTrainer(TrainingContext.of(Device.CPU), getDevice())
                        .train(dataset.toDF(), columns(), requested(), file);
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
                getInputCol(), getOrDefault(nameCol()), getLabelCol(), getOrDefault(validationIndicatorCol()));
    }

    /**
     * Returns all options.
     *
     * @throws ConfigException if a key or a value is invalid
     */
    Settings requested() {
        Map<Param<?>, String> keys = new LinkedHashMap<>();
        keys.put(backbone(), "network.backbone");
        keys.put(pooling(), "network.pooling");
        keys.put(classifier(), "network.classifier");
        keys.put(epochs(), "stage1.epochs");
        keys.put(validation(), "data.validation");
        keys.put(seed(), "seed");
        Settings requested = Settings.NONE;
        for (Map.Entry<Param<?>, String> entry : keys.entrySet()) {
            if (isSet(entry.getKey())) {
                requested = requested.with(entry.getValue(), String.valueOf(getOrDefault(entry.getKey())));
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
        SequencedMap<Output, String> outputs = new LinkedHashMap<>();
        outputs.put(Output.PREDICTION, getPredictionCol());
        outputs.put(Output.CLASS, getClassCol());
        outputs.put(Output.PROBABILITY, getProbabilityCol());
        outputs.put(Output.ERROR, getErrorCol());
        StructType appended = ModelStage.appended(schema, getInputCol(), outputs);
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

    private static String help(String key) {
        return ConfigKey.of(key).help();
    }

    /** Name of the backbone. */
    public Param<String> backbone() {
        return ModelStage.text(this, "backbone", help("network.backbone"));
    }

    public GramianClassifier setBackbone(String name) {
        return ModelStage.with(this, backbone(), name);
    }

    /** Pooling, as {@code conv:512/rbf/spd:128/relu/triu/root/l2}. */
    public Param<String> pooling() {
        return ModelStage.text(this, "pooling", help("network.pooling"));
    }

    public GramianClassifier setPooling(String stages) {
        return ModelStage.with(this, pooling(), stages);
    }

    /** Classifier, as {@code svm}, {@code lda} or {@code softmax}. */
    public Param<String> classifier() {
        return ModelStage.text(this, "classifier", help("network.classifier"));
    }

    public GramianClassifier setClassifier(String name) {
        return ModelStage.with(this, classifier(), name);
    }

    /** Maximum number of epochs of the head. */
    public IntParam epochs() {
        return new IntParam(uid, "epochs", help("stage1.epochs"));
    }

    public GramianClassifier setEpochs(int most) {
        return ModelStage.with(this, epochs(), most);
    }

    /** Validation fraction, used without a validation column. */
    public DoubleParam validation() {
        return new DoubleParam(uid, "validation", help("data.validation"));
    }

    public GramianClassifier setValidation(double fraction) {
        return ModelStage.with(this, validation(), fraction);
    }

    /** Random seed. */
    public LongParam seed() {
        return new LongParam(uid, "seed", help("seed"));
    }

    public GramianClassifier setSeed(long number) {
        return ModelStage.with(this, seed(), number);
    }

    /** Additional keys. */
    public StringArrayParam settings() {
        return new StringArrayParam(this, "settings", "additional keys of 'gramian train', each as key=value");
    }

    /** Sets additional keys of {@code gramian train}, each as {@code key=value}: {@code optimizer.momentum=0.8}. */
    public GramianClassifier setSettings(String... keysAndValues) {
        return ModelStage.with(this, settings(), keysAndValues.clone());
    }

    /** Column of unique image names, which define the order of images and their random crops. */
    public Param<String> nameCol() {
        return ModelStage.text(this, "nameCol", "column of unique image names, which define the order");
    }

    public GramianClassifier setNameCol(String column) {
        return ModelStage.with(this, nameCol(), column);
    }

    /** Column of labels. */
    public Param<String> labelCol() {
        return ModelStage.text(this, "labelCol", "column of labels: class names (string) or class indices (numbers)");
    }

    public String getLabelCol() {
        return getOrDefault(labelCol());
    }

    public GramianClassifier setLabelCol(String column) {
        return ModelStage.with(this, labelCol(), column);
    }

    /** Column that marks validation images. */
    public Param<String> validationIndicatorCol() {
        return ModelStage.text(
                this,
                "validationIndicatorCol",
                "column that marks the validation images (boolean); empty: a fraction is selected");
    }

    public GramianClassifier setValidationIndicatorCol(String column) {
        return ModelStage.with(this, validationIndicatorCol(), column);
    }
}
