package org.gramian.spark;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.LongParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.StringArrayParam;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.Key;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Origin;
import org.gramian.run.config.Settings;

/**
 * The parameters of {@link GramianClassifier} that decide how a model is trained. Each stands for a key of {@code gramian train}; what
 * is not set is chosen as there, and has nothing to get ({@link #isSet}). Keys without a parameter are set by {@link #setSettings}.
 */
abstract class TrainingStage extends Estimator<GramianModel> {
    private final String uid;
    private final Map<Param<?>, Key<?>> keys = new LinkedHashMap<>();
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

    TrainingStage(String uid) {
        this.uid = uid;
        // Not where they are declared: a parameter asks its stage for the uid.
        backbone = of(Keys.BACKBONE, text("backbone", Keys.BACKBONE.meaning()));
        layer = of(Keys.LAYER, text("layer", Keys.LAYER.meaning()));
        weights = of(Keys.WEIGHTS, text("weights", Keys.WEIGHTS.meaning()));
        pooling = of(Keys.POOLING, text("pooling", Keys.POOLING.meaning()));
        crops = of(Keys.CROPS, text("crops", Keys.CROPS.meaning()));
        epochs = of(Keys.STAGE1_EPOCHS, new IntParam(uid, "epochs", Keys.STAGE1_EPOCHS.meaning()));
        learningRate = of(Keys.STAGE1_RATE, new DoubleParam(uid, "learningRate", Keys.STAGE1_RATE.meaning()));
        batchSize = of(Keys.BATCH, new IntParam(uid, "batchSize", Keys.BATCH.meaning()));
        validation = of(Keys.VALIDATION, new DoubleParam(uid, "validation", Keys.VALIDATION.meaning()));
        seed = of(Keys.SEED, new LongParam(uid, "seed", Keys.SEED.meaning()));
        settings = new StringArrayParam(this, "settings", "additional keys of 'gramian train', each as key=value");
    }

    private <P extends Param<?>> P of(Key<?> key, P parameter) {
        keys.put(parameter, key);
        return parameter;
    }

    final Param<String> text(String name, String meaning) {
        return new Param<>(uid, name, meaning, String.class);
    }

    abstract GramianClassifier itself();

    @Override
    public String uid() {
        return uid;
    }

    /**
     * Returns all options.
     *
     * @throws ConfigException if something of it is no key, or no value of its key
     */
    final Settings requested() {
        Settings requested = Settings.NONE;
        for (Map.Entry<Param<?>, Key<?>> entry : keys.entrySet()) {
            if (isSet(entry.getKey())) {
                requested = requested.with(
                        entry.getValue().name(), String.valueOf(getOrDefault(entry.getKey())), Origin.CODE);
            }
        }
        for (String setting : isSet(settings) ? getOrDefault(settings) : new String[0]) {
            int equals = setting.indexOf('=');
            if (equals < 0) {
                throw new ConfigException("expected settings as key=value, found '" + setting + "'");
            }
            requested = requested.with(setting.substring(0, equals), setting.substring(equals + 1), Origin.CODE);
        }
        return requested;
    }

    /** The network that sees the images. */
    public Param<String> backbone() {
        return backbone;
    }

    public String getBackbone() {
        return getOrDefault(backbone);
    }

    public GramianClassifier setBackbone(String name) {
        set(backbone, name);
        return itself();
    }

    /** Where it is cut. */
    public Param<String> layer() {
        return layer;
    }

    public String getLayer() {
        return getOrDefault(layer);
    }

    public GramianClassifier setLayer(String name) {
        set(layer, name);
        return itself();
    }

    /** Its weights: a name, or a file of the driver. */
    public Param<String> weights() {
        return weights;
    }

    public String getWeights() {
        return getOrDefault(weights);
    }

    public GramianClassifier setWeights(String nameOrFile) {
        set(weights, nameOrFile);
        return itself();
    }

    /** Features to descriptor, as {@code conv:512/rbf/spd:128/relu/triu/root/l2}. */
    public Param<String> pooling() {
        return pooling;
    }

    public String getPooling() {
        return getOrDefault(pooling);
    }

    public GramianClassifier setPooling(String stages) {
        set(pooling, stages);
        return itself();
    }

    /** What is cut from an image, as {@code center:224}. */
    public Param<String> crops() {
        return crops;
    }

    public String getCrops() {
        return getOrDefault(crops);
    }

    public GramianClassifier setCrops(String plan) {
        set(crops, plan);
        return itself();
    }

    /** Most epochs. */
    public IntParam epochs() {
        return epochs;
    }

    public int getEpochs() {
        return (int) getOrDefault(epochs);
    }

    public GramianClassifier setEpochs(int most) {
        set(epochs, most);
        return itself();
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
        return itself();
    }

    /** Crops of a step, over all executors. */
    public IntParam batchSize() {
        return batchSize;
    }

    public int getBatchSize() {
        return (int) getOrDefault(batchSize);
    }

    public GramianClassifier setBatchSize(int crops) {
        set(batchSize, crops);
        return itself();
    }

    /** Validation fraction, used without a validation column. */
    public DoubleParam validation() {
        return validation;
    }

    public double getValidation() {
        return (double) getOrDefault(validation);
    }

    public GramianClassifier setValidation(double share) {
        set(validation, share);
        return itself();
    }

    /** Of first values, order and crops. */
    public LongParam seed() {
        return seed;
    }

    public long getSeed() {
        return (long) getOrDefault(seed);
    }

    public GramianClassifier setSeed(long number) {
        set(seed, number);
        return itself();
    }

    /** Further settings. */
    public StringArrayParam settings() {
        return settings;
    }

    public String[] getSettings() {
        return getOrDefault(settings).clone();
    }

    /** Further keys of {@code gramian train}, each as {@code key=value}: {@code optimizer.momentum=0.8}. */
    public GramianClassifier setSettings(String... keysAndValues) {
        set(settings, keysAndValues.clone());
        return itself();
    }
}
