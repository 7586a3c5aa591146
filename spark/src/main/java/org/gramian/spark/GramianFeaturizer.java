package org.gramian.spark;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.util.Identifiable;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.executor.ModelContent;
import org.gramian.spark.executor.Output;

/**
 * Computes descriptors of a column of images, the output of the pooling of a trained model, for Spark's own classifiers, clustering
 * or search.
 *
 * <pre>{@code
 * GramianFeaturizer featurizer = GramianFeaturizer.fromFile("model.safetensors").setOutputCol("features");
 * Pipeline pipeline = new Pipeline().setStages(new PipelineStage[] {featurizer, new LogisticRegression()});
 * }</pre>
 *
 * <p>Each row gets a vector {@code [d]}, the mean over the image's crops. An unreadable image gets null and its error; most stages of
 * Spark need such rows filtered out.
 */
public final class GramianFeaturizer extends ModelStage<GramianFeaturizer> {
    GramianFeaturizer(String uid, ModelContent content) {
        super(uid, content);
        setDefault(outputCol(), "features");
    }

    /**
     * Creates a stage from a model file of {@code gramian train}.
     *
     * @param path in any Hadoop file system
     * @throws org.gramian.model.ModelFileException if it is not a usable model
     */
    public static GramianFeaturizer fromFile(String path) throws IOException {
        return new GramianFeaturizer(
                Identifiable.randomUID("gramianFeaturizer"), ModelContent.read(path, SparkSession.active()));
    }

    /** Loads what {@link #write} saved. */
    public static MLReader<GramianFeaturizer> read() {
        return reader(GramianFeaturizer.class, GramianFeaturizer::new);
    }

    /** Loads what {@link #save} saved. */
    public static GramianFeaturizer load(String path) {
        return read().load(path);
    }

    /** Output column of the descriptors. */
    public Param<String> outputCol() {
        return text(this, "outputCol", "output column for descriptors, one vector per image");
    }

    public String getOutputCol() {
        return getOrDefault(outputCol());
    }

    public GramianFeaturizer setOutputCol(String column) {
        return with(this, outputCol(), column);
    }

    @Override
    SequencedMap<Output, String> outputs() {
        SequencedMap<Output, String> outputs = new LinkedHashMap<>();
        outputs.put(Output.DESCRIPTOR, getOutputCol());
        outputs.put(Output.ERROR, getErrorCol());
        outputs.put(Output.ERROR_KIND, getErrorKindCol());
        return outputs;
    }

    @Override
    GramianFeaturizer create(String uid) {
        return new GramianFeaturizer(uid, content());
    }
}
