package org.gramian.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.UUID;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.Identifiable;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.ml.util.MLWritable;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.gramian.spark.executor.Output;
import org.gramian.spark.train.SparkTrainer;
import org.gramian.spark.train.Trained;
import org.gramian.spark.train.TrainingColumns;
import org.gramian.spark.train.TrainingJob;
import org.gramian.train.loop.Breaks;
import org.gramian.train.loop.InterruptedTrainingException;

/**
 * Trains a {@link GramianModel} on a column of labelled pictures: features of a frozen backbone are computed by the executors, and
 * pooling and classifier trained on them by all executors together.
 *
 * <pre>{@code
 * GramianClassifier classifier = new GramianClassifier()
 *         .setInputCol("path").setLabelCol("label").setBackbone("googlenet").setEpochs(9).setFolder("hdfs:///runs/7");
 * GramianModel model = classifier.fit(labelled);                   // path STRING, label STRING
 * }</pre>
 *
 * <p>With a {@link #folder} a fit that was broken goes on when it is called again with the same table and parameters, and the folder
 * keeps the features; without one, all of it lies in a passing folder of the default file system. What is trained, and how exactly,
 * is said by {@link SparkTrainer}.
 */
public final class GramianClassifier extends TrainingStage implements MLWritable {
    private final Param<String> inputCol =
            text("inputCol", "column of pictures: their bytes (binary) or paths (string)");
    private final Param<String> nameCol =
            text("nameCol", "column of the pictures' names, each its own, which decide their order");
    private final Param<String> labelCol =
            text("labelCol", "column of labels: names of classes (string), or their indices (numbers)");
    private final Param<String> validationIndicatorCol = text(
            "validationIndicatorCol",
            "column that says which pictures judge epochs (boolean); empty: a share is chosen");
    private final Param<String> folder =
            text("folder", "folder for features and checkpoints that all machines reach; empty: a passing one");
    private final Param<String> device =
            text("device", "where executors compute: cpu, cuda, cuda:<number>, or auto for the GPU that Spark gives");

    public GramianClassifier() {
        this(Identifiable.randomUID("gramianClassifier"));
    }

    /** One with a uid, as Spark makes it when it loads one. */
    public GramianClassifier(String uid) {
        super(uid);
        setDefault(inputCol, "content");
        setDefault(nameCol, "path");
        setDefault(labelCol, "label");
        setDefault(validationIndicatorCol, "");
        setDefault(folder, "");
        setDefault(device, "auto");
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
        SparkSession session = dataset.sparkSession();
        try {
            if (!getFolder().isEmpty()) {
                return fit(dataset, getFolder());
            }
            FileSystem files = FileSystem.get(session.sessionState().newHadoopConf());
            Path passing = files.makeQualified(new Path("/tmp/gramian-" + UUID.randomUUID()));
            try {
                return fit(dataset, passing.toString());
            } finally {
                files.delete(passing, true);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private GramianModel fit(Dataset<?> dataset, String run) throws IOException {
        TrainingColumns columns =
                new TrainingColumns(getInputCol(), getNameCol(), getLabelCol(), getOrDefault(validationIndicatorCol));
        Trained trained = SparkTrainer.usual()
                .train(new TrainingJob(dataset.toDF(), columns, asked(), run, true, getOrDefault(device)));
        String file = trained.model().orElseThrow(() -> new InterruptedTrainingException(Breaks.Reason.ASKED));
        GramianModel model =
                new GramianModel(Identifiable.randomUID("gramianModel"), ModelFiles.read(file, dataset.sparkSession()));
        model.setInputCol(getInputCol()).setDevice(getOrDefault(device));
        return model.setParent(this);
    }

    /** What the model will append. */
    @Override
    public StructType transformSchema(StructType schema) {
        SequencedMap<Output, String> outputs = new LinkedHashMap<>();
        outputs.put(Output.PREDICTION, "prediction");
        outputs.put(Output.CLASS, "predictedClass");
        outputs.put(Output.PROBABILITY, "probability");
        outputs.put(Output.ERROR, "error");
        return ModelStage.appended(schema, getInputCol(), outputs);
    }

    @Override
    public GramianClassifier copy(ParamMap extra) {
        return defaultCopy(extra);
    }

    @Override
    public MLWriter write() {
        return new DefaultParamsWriter(this);
    }

    @Override
    GramianClassifier itself() {
        return this;
    }

    /** The column that holds pictures. */
    public Param<String> inputCol() {
        return inputCol;
    }

    public String getInputCol() {
        return getOrDefault(inputCol);
    }

    public GramianClassifier setInputCol(String column) {
        set(inputCol, column);
        return this;
    }

    /** The column of names. */
    public Param<String> nameCol() {
        return nameCol;
    }

    public String getNameCol() {
        return getOrDefault(nameCol);
    }

    public GramianClassifier setNameCol(String column) {
        set(nameCol, column);
        return this;
    }

    /** The column of labels. */
    public Param<String> labelCol() {
        return labelCol;
    }

    public String getLabelCol() {
        return getOrDefault(labelCol);
    }

    public GramianClassifier setLabelCol(String column) {
        set(labelCol, column);
        return this;
    }

    /** The column that says which pictures judge epochs. */
    public Param<String> validationIndicatorCol() {
        return validationIndicatorCol;
    }

    public GramianClassifier setValidationIndicatorCol(String column) {
        set(validationIndicatorCol, column);
        return this;
    }

    /** Where features and checkpoints are kept. */
    public Param<String> folder() {
        return folder;
    }

    public String getFolder() {
        return getOrDefault(folder);
    }

    public GramianClassifier setFolder(String path) {
        set(folder, path);
        return this;
    }

    /** Where executors compute. */
    public Param<String> device() {
        return device;
    }

    public GramianClassifier setDevice(String name) {
        set(device, name);
        return this;
    }
}
