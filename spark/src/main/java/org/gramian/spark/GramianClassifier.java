package org.gramian.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
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
import org.gramian.spark.executor.ModelContent;
import org.gramian.spark.executor.TaskResources;
import org.gramian.spark.train.ClusterOutput;
import org.gramian.spark.train.SparkTrainer;
import org.gramian.spark.train.TrainingJob;
import org.gramian.spark.train.TrainingOutcome;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;

/**
 * Trains a {@link GramianModel} on a column of labelled images: executors compute features of a frozen backbone, then train pooling
 * and classifier together, see {@link SparkTrainer}.
 *
 * <pre>{@code
 * GramianClassifier classifier = new GramianClassifier()
 *         .setInputCol("path").setLabelCol("label").setBackbone("googlenet").setEpochs(9).setFolder("hdfs:///runs/7");
 * GramianModel model = classifier.fit(labelled);                   // path STRING, label STRING
 * }</pre>
 *
 * <p>With a {@link #folder}, an interrupted fit resumes when called again with the same table and parameters, and the folder keeps the
 * features; a fit with another table or other parameters is refused there. Without one, a temporary folder of the default file
 * system is used, which all machines must reach.
 */
public final class GramianClassifier extends GramianClassifierParams implements MLWritable {
    private final Param<String> folder =
            text("folder", "folder for features and checkpoints, reachable from all machines; empty: a temporary one");
    private final Param<String> device =
            text("device", "device of the executors: cpu, cuda, cuda:<number>, or auto for the GPU that Spark assigns");

    public GramianClassifier() {
        this(Identifiable.randomUID("gramianClassifier"));
    }

    /** Creates a classifier with a uid, for Spark. */
    public GramianClassifier(String uid) {
        super(uid);
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
        TaskResources.requireDeviceName("device", getDevice());
        SparkSession session = dataset.sparkSession();
        try {
            if (!getFolder().isEmpty()) {
                return fit(dataset, getFolder());
            }
            FileSystem files = FileSystem.get(session.sessionState().newHadoopConf());
            Path temporary = files.makeQualified(new Path("/tmp/gramian-" + UUID.randomUUID()));
            if (ClusterOutput.mayBeLocal(session, temporary.toString())) {
                throw new IllegalArgumentException(
                        "expected a folder for features reachable from all machines, found none set,"
                                + " and the default file system, " + files.getUri()
                                + ", is local to each machine; set one with"
                                + " setFolder");
            }
            try {
                return fit(dataset, temporary.toString());
            } finally {
                files.delete(temporary, true);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private GramianModel fit(Dataset<?> dataset, String run) throws IOException {
        TrainingOutcome trained = SparkTrainer.create()
                .train(new TrainingJob(dataset.toDF(), columns(), requested(), run, true, getDevice()));
        String file =
                trained.model().orElseThrow(() -> new InterruptedTrainingException(Cancellation.Reason.CANCELLED));
        GramianModel model = new GramianModel(
                Identifiable.randomUID("gramianModel"), ModelContent.read(file, dataset.sparkSession()));
        return copyValues(model, new ParamMap()).setParent(this);
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
    GramianClassifier self() {
        return this;
    }

    /** Folder of features and checkpoints. */
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

    /** Device of the executors. */
    public Param<String> device() {
        return device;
    }

    public String getDevice() {
        return getOrDefault(device);
    }

    public GramianClassifier setDevice(String name) {
        set(device, name);
        return this;
    }
}
