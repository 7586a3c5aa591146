package org.gramian.spark;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.LongParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.StringArrayParam;
import org.apache.spark.sql.types.StructType;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.Settings;
import org.gramian.spark.executor.Output;
import org.gramian.spark.train.TrainingColumns;

/**
 * Parameters of {@link GramianClassifier}: columns, and keys of {@code gramian train}. An unset key gets the default of {@code gramian
 * train} and has no value here ({@link #isSet}); {@link #setSettings} sets keys without a parameter.
 */
abstract class GramianClassifierParams extends Estimator<GramianModel> {
    private final String uid;
    private final Map<Param<?>, String> keys = new LinkedHashMap<>();
    private final Param<String> backbone;
    private final Param<String> layer;
    private final Param<String> weights;
    private final Param<String> pooling;
    private final Param<String> crops;
    private final IntParam epochs;
    private final DoubleParam learningRate;
    private final IntParam batchSize;
    private final DoubleParam validation;
    private final LongParam seed;
    private final StringArrayParam settings;
    private final Param<String> inputCol;
    private final Param<String> nameCol;
    private final Param<String> labelCol;
    private final Param<String> validationIndicatorCol;
    private final Param<String> predictionCol;
    private final Param<String> classCol;
    private final Param<String> probabilityCol;
    private final Param<String> errorCol;

    GramianClassifierParams(String uid) {
        this.uid = uid;
        // Not where they are declared: a parameter needs the uid.
        backbone = of("network.backbone", text("backbone", help("network.backbone")));
        layer = of("network.layer", text("layer", help("network.layer")));
        weights = of("network.weights", text("weights", help("network.weights")));
        pooling = of("network.pooling", text("pooling", help("network.pooling")));
        crops = of("data.crops", text("crops", help("data.crops")));
        epochs = of("stage1.epochs", new IntParam(uid, "epochs", help("stage1.epochs")));
        learningRate = of("stage1.rate", new DoubleParam(uid, "learningRate", help("stage1.rate")));
        batchSize = of("optimizer.batch", new IntParam(uid, "batchSize", help("optimizer.batch")));
        validation = of("data.validation", new DoubleParam(uid, "validation", help("data.validation")));
        seed = of("seed", new LongParam(uid, "seed", help("seed")));
        settings = new StringArrayParam(this, "settings", "additional keys of 'gramian train', each as key=value");
        inputCol = text("inputCol", "column of images: their bytes (binary) or paths (string)");
        nameCol = text("nameCol", "column of unique image names, which define the order");
        labelCol = text("labelCol", "column of labels: class names (string) or class indices (numbers)");
        validationIndicatorCol = text(
                "validationIndicatorCol",
                "column that marks the validation images (boolean); empty: a random fraction is used");
        predictionCol = text(
                "predictionCol",
                "the model's output column for the index of the predicted class, a double; empty for none");
        classCol = text(
                "classCol", "the model's output column for the name of the predicted class, a string; empty for none");
        probabilityCol = text(
                "probabilityCol",
                "the model's output column for the probabilities of all classes, a vector; empty for none");
        errorCol = text("errorCol", "the model's output column for the error of an unreadable image");
        setDefault(inputCol, "content");
        setDefault(nameCol, "path");
        setDefault(labelCol, "label");
        setDefault(validationIndicatorCol, "");
        setDefault(predictionCol, "prediction");
        setDefault(classCol, "predictedClass");
        setDefault(probabilityCol, "probability");
        setDefault(errorCol, "error");
    }

    private static String help(String key) {
        return ConfigKey.of(key).help();
    }

    private <P extends Param<?>> P of(String key, P parameter) {
        keys.put(parameter, key);
        return parameter;
    }

    final Param<String> text(String name, String meaning) {
        return new Param<>(uid, name, meaning, String.class);
    }

    abstract GramianClassifier self();

    @Override
    public String uid() {
        return uid;
    }

    /**
     * Returns all options.
     *
     * @throws ConfigException if a key or a value is invalid
     */
    final Settings requested() {
        Settings requested = Settings.NONE;
        for (Map.Entry<Param<?>, String> entry : keys.entrySet()) {
            if (isSet(entry.getKey())) {
                requested = requested.with(entry.getValue(), String.valueOf(getOrDefault(entry.getKey())));
            }
        }
        for (String setting : isSet(settings) ? getOrDefault(settings) : new String[0]) {
            int equals = setting.indexOf('=');
            if (equals < 0) {
                throw new ConfigException("expected settings as key=value, found '" + setting + "'");
            }
            requested = requested.with(setting.substring(0, equals), setting.substring(equals + 1));
        }
        return requested;
    }

    /** Name of the backbone. */
    public Param<String> backbone() {
        return backbone;
    }

    public String getBackbone() {
        return getOrDefault(backbone);
    }

    public GramianClassifier setBackbone(String name) {
        set(backbone, name);
        return self();
    }

    /** Layer whose feature maps are pooled. */
    public Param<String> layer() {
        return layer;
    }

    public String getLayer() {
        return getOrDefault(layer);
    }

    public GramianClassifier setLayer(String name) {
        set(layer, name);
        return self();
    }

    /** Weights of the backbone: a name, or a file of the driver. */
    public Param<String> weights() {
        return weights;
    }

    public String getWeights() {
        return getOrDefault(weights);
    }

    public GramianClassifier setWeights(String nameOrFile) {
        set(weights, nameOrFile);
        return self();
    }

    /** Pooling, as {@code conv:512/rbf/spd:128/relu/triu/root/l2}. */
    public Param<String> pooling() {
        return pooling;
    }

    public String getPooling() {
        return getOrDefault(pooling);
    }

    public GramianClassifier setPooling(String stages) {
        set(pooling, stages);
        return self();
    }

    /** Crop plan, as {@code center:224}. */
    public Param<String> crops() {
        return crops;
    }

    public String getCrops() {
        return getOrDefault(crops);
    }

    public GramianClassifier setCrops(String plan) {
        set(crops, plan);
        return self();
    }

    /** Maximum number of epochs. */
    public IntParam epochs() {
        return epochs;
    }

    public int getEpochs() {
        return (int) getOrDefault(epochs);
    }

    public GramianClassifier setEpochs(int most) {
        set(epochs, most);
        return self();
    }

    /** Learning rate of the new layers. */
    public DoubleParam learningRate() {
        return learningRate;
    }

    public double getLearningRate() {
        return (double) getOrDefault(learningRate);
    }

    public GramianClassifier setLearningRate(double rate) {
        set(learningRate, rate);
        return self();
    }

    /** Batch size in crops, over all executors. */
    public IntParam batchSize() {
        return batchSize;
    }

    public int getBatchSize() {
        return (int) getOrDefault(batchSize);
    }

    public GramianClassifier setBatchSize(int crops) {
        set(batchSize, crops);
        return self();
    }

    /** Validation fraction, used without a validation column. */
    public DoubleParam validation() {
        return validation;
    }

    public double getValidation() {
        return (double) getOrDefault(validation);
    }

    public GramianClassifier setValidation(double fraction) {
        set(validation, fraction);
        return self();
    }

    /** Random seed. */
    public LongParam seed() {
        return seed;
    }

    public long getSeed() {
        return (long) getOrDefault(seed);
    }

    public GramianClassifier setSeed(long number) {
        set(seed, number);
        return self();
    }

    /** Additional keys. */
    public StringArrayParam settings() {
        return settings;
    }

    public String[] getSettings() {
        return getOrDefault(settings).clone();
    }

    /** Sets additional keys of {@code gramian train}, each as {@code key=value}: {@code optimizer.momentum=0.8}. */
    public GramianClassifier setSettings(String... keysAndValues) {
        set(settings, keysAndValues.clone());
        return self();
    }

    /** Returns the input columns. */
    final TrainingColumns columns() {
        return new TrainingColumns(getInputCol(), getNameCol(), getLabelCol(), getValidationIndicatorCol());
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
        outputs.values().removeIf(String::isEmpty);
        StructType appended = ModelStage.appended(schema, getInputCol(), outputs);
        columns().requireIn(schema);
        return appended;
    }

    /** Column of images. */
    public Param<String> inputCol() {
        return inputCol;
    }

    public String getInputCol() {
        return getOrDefault(inputCol);
    }

    public GramianClassifier setInputCol(String column) {
        set(inputCol, column);
        return self();
    }

    /** Column of image names. */
    public Param<String> nameCol() {
        return nameCol;
    }

    public String getNameCol() {
        return getOrDefault(nameCol);
    }

    public GramianClassifier setNameCol(String column) {
        set(nameCol, column);
        return self();
    }

    /** Column of labels. */
    public Param<String> labelCol() {
        return labelCol;
    }

    public String getLabelCol() {
        return getOrDefault(labelCol);
    }

    public GramianClassifier setLabelCol(String column) {
        set(labelCol, column);
        return self();
    }

    /** Column that marks validation images. */
    public Param<String> validationIndicatorCol() {
        return validationIndicatorCol;
    }

    public String getValidationIndicatorCol() {
        return getOrDefault(validationIndicatorCol);
    }

    public GramianClassifier setValidationIndicatorCol(String column) {
        set(validationIndicatorCol, column);
        return self();
    }

    /** The model's output column of class indices. */
    public Param<String> predictionCol() {
        return predictionCol;
    }

    public String getPredictionCol() {
        return getOrDefault(predictionCol);
    }

    public GramianClassifier setPredictionCol(String column) {
        set(predictionCol, column);
        return self();
    }

    /** The model's output column of class names. */
    public Param<String> classCol() {
        return classCol;
    }

    public String getClassCol() {
        return getOrDefault(classCol);
    }

    public GramianClassifier setClassCol(String column) {
        set(classCol, column);
        return self();
    }

    /** The model's output column of probabilities. */
    public Param<String> probabilityCol() {
        return probabilityCol;
    }

    public String getProbabilityCol() {
        return getOrDefault(probabilityCol);
    }

    public GramianClassifier setProbabilityCol(String column) {
        set(probabilityCol, column);
        return self();
    }

    /** The model's output column of errors. */
    public Param<String> errorCol() {
        return errorCol;
    }

    public String getErrorCol() {
        return getOrDefault(errorCol);
    }

    public GramianClassifier setErrorCol(String column) {
        set(errorCol, column);
        return self();
    }
}
